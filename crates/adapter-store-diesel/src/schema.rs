//! The tables as the queries see them. Written by hand, in step with `migrations/`.

use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    partners (id) {
        id -> Binary,
        name -> Text,
        login -> Text,
        api_key_hash -> Binary,
        password_hash -> Text,
        status -> Text,
        sealing -> Text,
        created_at -> BigInt,
        former_api_key_hash -> Nullable<Binary>,
        former_api_key_until -> Nullable<BigInt>,
    }
}

table! {
    sealing_keys (partner_id, key_id) {
        partner_id -> Binary,
        key_id -> Binary,
        encrypted_secret -> Binary,
        created_at -> BigInt,
        accepted_until -> Nullable<BigInt>,
    }
}

table! {
    counters (partner_id, list) {
        partner_id -> Binary,
        list -> Text,
        last -> BigInt,
    }
}

table! {
    sessions (partner_id, id) {
        partner_id -> Binary,
        id -> Binary,
        created_at -> BigInt,
        expires_at -> BigInt,
        revoked -> Bool,
    }
}

table! {
    token_pairs (partner_id, id) {
        partner_id -> Binary,
        id -> Binary,
        session_id -> Binary,
        state -> Text,
        used -> Bool,
        successor -> Nullable<Binary>,
        reissued -> Bool,
        refresh_expires_at -> BigInt,
    }
}

table! {
    login_failures (id) {
        id -> BigInt,
        subject -> Binary,
        failed_at -> BigInt,
    }
}

table! {
    spent_nonces (api_key_hash, nonce) {
        api_key_hash -> Binary,
        nonce -> Text,
        spent_at -> BigInt,
    }
}

table! {
    recorded_responses (partner_id, key) {
        partner_id -> Binary,
        key -> Text,
        fingerprint -> Binary,
        status -> Integer,
        body -> Binary,
        recorded_at -> BigInt,
    }
}

table! {
    sealed_nonces (partner_id, nonce) {
        partner_id -> Binary,
        nonce -> Text,
        idempotency_key -> Nullable<Text>,
        spent_at -> BigInt,
    }
}

table! {
    categories (partner_id, id) {
        partner_id -> Binary,
        id -> Binary,
        seq -> BigInt,
        name -> Text,
        folded_name -> Text,
        created_at -> BigInt,
    }
}

table! {
    employees (partner_id, id) {
        partner_id -> Binary,
        id -> Binary,
        seq -> BigInt,
        custom_id -> Text,
        surname -> Nullable<Text>,
        name -> Nullable<Text>,
        patronymic -> Nullable<Text>,
        phone -> Nullable<Binary>,
        email -> Nullable<Binary>,
        category_id -> Nullable<Binary>,
        status -> Text,
        created_at -> BigInt,
        status_updated_at -> BigInt,
        search_text -> Text,
    }
}

table! {
    orders (partner_id, id) {
        partner_id -> Binary,
        id -> Binary,
        seq -> BigInt,
        kind -> Text,
        card_type -> Text,
        cards -> BigInt,
        cost -> BigInt,
        state -> Text,
        created_at -> BigInt,
        state_since -> BigInt,
    }
}

table! {
    order_lines (partner_id, order_id, position) {
        partner_id -> Binary,
        order_id -> Binary,
        position -> BigInt,
        card_type -> Text,
        cards -> BigInt,
        address -> Nullable<Binary>,
        recipient -> Nullable<Binary>,
        phone -> Nullable<Binary>,
        amount -> Nullable<BigInt>,
    }
}

table! {
    cards (partner_id, id) {
        partner_id -> Binary,
        id -> Binary,
        seq -> BigInt,
        number -> BigInt,
        kind -> Text,
        order_id -> Binary,
        ordinal -> BigInt,
        valid_until -> Integer,
        employee_id -> Nullable<Binary>,
        link_status -> Nullable<Text>,
        activation_code -> Nullable<Binary>,
        activation_valid_until -> Nullable<Integer>,
        first_top_up -> Nullable<BigInt>,
        balance -> BigInt,
        remaining_top_up -> BigInt,
        activated_at -> Nullable<BigInt>,
        standing -> Text,
        seen_at -> BigInt,
        account_value -> BigInt,
        account_updated_at -> BigInt,
        transactions_seen_at -> Nullable<BigInt>,
        spending_limit -> Text,
    }
}

table! {
    transactions (partner_id, card_id, id) {
        partner_id -> Binary,
        card_id -> Binary,
        id -> BigInt,
        executed_at -> BigInt,
        kind -> Text,
        amount -> BigInt,
        place -> Nullable<Text>,
        mcc -> Nullable<Text>,
        merchant_id -> Nullable<Text>,
    }
}

table! {
    replenishments (partner_id, id) {
        partner_id -> Binary,
        id -> Binary,
        seq -> BigInt,
        cards -> BigInt,
        amount -> BigInt,
        state -> Text,
        created_at -> BigInt,
        state_since -> BigInt,
    }
}

table! {
    replenishment_items (partner_id, replenishment_id, ordinal) {
        partner_id -> Binary,
        replenishment_id -> Binary,
        ordinal -> BigInt,
        card_id -> Binary,
        number -> BigInt,
        amount -> BigInt,
        state -> Text,
        refusal -> Nullable<Text>,
        claimed -> Bool,
        sent -> Bool,
    }
}

table! {
    limit_changes (partner_id, id) {
        partner_id -> Binary,
        id -> Binary,
        seq -> BigInt,
        cards -> BigInt,
        spending_limit -> Text,
        state -> Text,
        created_at -> BigInt,
        state_since -> BigInt,
    }
}

table! {
    limit_change_items (partner_id, limit_change_id, ordinal) {
        partner_id -> Binary,
        limit_change_id -> Binary,
        ordinal -> BigInt,
        card_id -> Binary,
        number -> BigInt,
        state -> Text,
        refusal -> Nullable<Text>,
        claimed -> Bool,
        sent -> Bool,
    }
}

table! {
    balances (partner_id) {
        partner_id -> Binary,
        deposited -> BigInt,
        available -> BigInt,
        held -> BigInt,
        spent -> BigInt,
        last_movement -> BigInt,
        updated_at -> BigInt,
    }
}

table! {
    movements (partner_id, number) {
        partner_id -> Binary,
        number -> BigInt,
        kind -> Text,
        deposit_reference -> Nullable<Text>,
        order_id -> Nullable<Binary>,
        replenishment_id -> Nullable<Binary>,
        created_at -> BigInt,
    }
}

table! {
    entries (partner_id, movement, account) {
        partner_id -> Binary,
        movement -> BigInt,
        account -> Text,
        amount -> BigInt,
    }
}

table! {
    jobs (partner_id, subject_kind, subject_id) {
        partner_id -> Binary,
        subject_kind -> Text,
        subject_id -> Binary,
        due_at -> BigInt,
        attempt -> BigInt,
        failures -> BigInt,
        may_have_sent -> Bool,
        leased_until -> Nullable<BigInt>,
        stuck_since -> Nullable<BigInt>,
    }
}

table! {
    audit_chains (chain) {
        chain -> BigInt,
        opened_at -> BigInt,
        hash -> Binary,
        commands -> Bool,
    }
}

table! {
    audit_entries (chain, number) {
        chain -> BigInt,
        number -> BigInt,
        hash -> Binary,
        at -> BigInt,
        actor -> Text,
        credential -> Nullable<Binary>,
        operator -> Nullable<Text>,
        partner -> Nullable<Binary>,
        source -> Text,
        action -> Text,
        subject -> Text,
        request_id -> Nullable<Text>,
        key_digest -> Nullable<Binary>,
        sealed -> Bool,
        outcome -> Text,
        status -> Nullable<BigInt>,
        code -> Nullable<Text>,
        signature -> Nullable<Binary>,
    }
}

table! {
    audit_checkpoints (chain, kind) {
        chain -> BigInt,
        kind -> Text,
        number -> BigInt,
        hash -> Binary,
        signature -> Binary,
    }
}

allow_tables_to_appear_in_same_query!(sessions, token_pairs);
allow_tables_to_appear_in_same_query!(movements, entries);
allow_tables_to_appear_in_same_query!(categories, employees);
