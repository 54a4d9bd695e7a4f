//! The tables as the queries see them. Written by hand, in step with `migrations/`.

mod access;

use diesel::allow_tables_to_appear_in_same_query;

pub(crate) use access::*;

macro_rules! tables {
    ($($name:ident $key:tt $columns:tt)*) => {
        $(diesel::table! {
            use crate::sql_types::sql::*;

            $name $key $columns
        })*
    };
}
use tables;

tables! {
    counters (partner_id, list) {
        partner_id -> Id,
        list -> Text,
        last -> BigInt,
    }

    recorded_responses (partner_id, key) {
        partner_id -> Id,
        key -> Text,
        fingerprint -> Binary,
        status -> Integer,
        body -> Binary,
        recorded_at -> UtcTimestamp,
        employee_id -> Nullable<Id>,
    }

    sealed_nonces (partner_id, nonce) {
        partner_id -> Id,
        nonce -> Text,
        idempotency_key -> Nullable<Text>,
        spent_at -> UtcTimestamp,
    }

    categories (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        seq -> BigInt,
        name -> Text,
        folded_name -> Text,
        created_at -> UtcTimestamp,
    }

    employees (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        seq -> BigInt,
        custom_id -> Text,
        surname -> Nullable<Text>,
        name -> Nullable<Text>,
        patronymic -> Nullable<Text>,
        phone -> Nullable<Binary>,
        email -> Nullable<Binary>,
        category_id -> Nullable<Id>,
        status -> Text,
        created_at -> UtcTimestamp,
        status_updated_at -> UtcTimestamp,
        search_text -> Text,
        erased_at -> Nullable<UtcTimestamp>,
    }

    leavers (partner_id, employee_id) {
        partner_id -> Id,
        employee_id -> Id,
        left_at -> UtcTimestamp,
        closes -> Bool,
        run_id -> Nullable<Id>,
        look_at -> Nullable<UtcTimestamp>,
    }

    leaver_cards (partner_id, employee_id, card_id) {
        partner_id -> Id,
        employee_id -> Id,
        card_id -> Id,
        status -> Text,
    }

    pending_deposits (partner_id, reference) {
        partner_id -> Id,
        reference -> Text,
        amount -> BigInt,
        entered_by -> Text,
        entered_at -> UtcTimestamp,
    }

    closed_months (partner_id, month) {
        partner_id -> Id,
        month -> Day,
        known -> BigInt,
        kept_up_to -> BigInt,
        erasures -> BigInt,
        is_changed -> Bool,
        sha256 -> Nullable<Binary>,
        closed_at -> Nullable<UtcTimestamp>,
    }

    closed_month_rows (partner_id, month, place) {
        partner_id -> Id,
        month -> Day,
        place -> BigInt,
        employee_id -> Nullable<Id>,
        custom_id -> Nullable<Text>,
        surname -> Nullable<Text>,
        name -> Nullable<Text>,
        patronymic -> Nullable<Text>,
        category_id -> Nullable<Id>,
        category -> Nullable<Text>,
        opening -> BigInt,
        given -> BigInt,
        spent -> BigInt,
        refunded -> BigInt,
        returned -> BigInt,
        correction -> BigInt,
        late -> BigInt,
        payments -> BigInt,
        transactions -> BigInt,
    }

    orders (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        seq -> BigInt,
        kind -> Text,
        card_type -> Text,
        cards -> BigInt,
        cost -> BigInt,
        state -> Text,
        created_at -> UtcTimestamp,
        state_since -> UtcTimestamp,
        reference -> Nullable<Text>,
    }

    order_lines (partner_id, order_id, position) {
        partner_id -> Id,
        order_id -> Id,
        position -> BigInt,
        card_type -> Text,
        cards -> BigInt,
        address -> Nullable<Binary>,
        recipient -> Nullable<Binary>,
        phone -> Nullable<Binary>,
        amount -> Nullable<BigInt>,
    }

    cards (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        seq -> BigInt,
        number -> BigInt,
        kind -> Text,
        order_id -> Id,
        ordinal -> BigInt,
        valid_until -> Day,
        employee_id -> Nullable<Id>,
        link_status -> Nullable<Text>,
        activation_code -> Nullable<Binary>,
        activation_valid_until -> Nullable<Day>,
        first_top_up -> Nullable<BigInt>,
        balance -> BigInt,
        remaining_top_up -> BigInt,
        activated_at -> Nullable<UtcTimestamp>,
        standing -> Text,
        seen_at -> UtcTimestamp,
        account_value -> BigInt,
        account_updated_at -> UtcTimestamp,
        transactions_seen_at -> Nullable<UtcTimestamp>,
        spending_limit -> Text,
        expiry_due -> Nullable<Day>,
        block_state -> Text,
        block_change -> BigInt,
    }

    bank_feed (id) {
        id -> BigInt,
        cursor -> BigInt,
        forgotten_at -> Nullable<UtcTimestamp>,
        lease_owner -> Nullable<Id>,
        leased_until -> Nullable<UtcTimestamp>,
    }

    bank_declines (partner_id, seq) {
        partner_id -> Id,
        seq -> BigInt,
    }

    transactions (partner_id, card_id, id) {
        partner_id -> Id,
        card_id -> Id,
        id -> BigInt,
        executed_at -> UtcTimestamp,
        kind -> Text,
        amount -> BigInt,
        place -> Nullable<Text>,
        mcc -> Nullable<Text>,
        merchant_id -> Nullable<Text>,
        seq -> BigInt,
    }

    card_batches (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        kind -> Text,
        seq -> BigInt,
        cards -> BigInt,
        amount -> Nullable<BigInt>,
        spending_limit -> Nullable<Text>,
        state -> Text,
        created_at -> UtcTimestamp,
        state_since -> UtcTimestamp,
        is_urgent -> Bool,
        returned -> BigInt,
        reference -> Nullable<Text>,
        first_open -> BigInt,
    }

    card_batch_items (partner_id, batch_id, ordinal) {
        partner_id -> Id,
        batch_id -> Id,
        ordinal -> BigInt,
        kind -> Text,
        card_id -> Id,
        number -> BigInt,
        amount -> Nullable<BigInt>,
        state -> Text,
        refusal -> Nullable<Text>,
        claimed -> Bool,
        sent -> Bool,
        reason -> Nullable<Text>,
        is_urgent -> Bool,
        returned -> Nullable<BigInt>,
    }

    balances (partner_id) {
        partner_id -> Id,
        deposited -> BigInt,
        available -> BigInt,
        held -> BigInt,
        spent -> BigInt,
        last_movement -> BigInt,
        updated_at -> UtcTimestamp,
        threshold -> BigInt,
        approval_above -> BigInt,
    }

    movements (partner_id, number) {
        partner_id -> Id,
        number -> BigInt,
        kind -> Text,
        transfer_reference -> Nullable<Text>,
        order_id -> Nullable<Id>,
        replenishment_id -> Nullable<Id>,
        closing_id -> Nullable<Id>,
        withdrawal_id -> Nullable<Id>,
        created_at -> UtcTimestamp,
        available_after -> BigInt,
        held_after -> BigInt,
    }

    entries (partner_id, movement, account) {
        partner_id -> Id,
        movement -> BigInt,
        account -> Text,
        amount -> BigInt,
    }

    jobs (partner_id, subject_kind, subject_id) {
        partner_id -> Id,
        subject_kind -> Text,
        subject_id -> Id,
        due_at -> UtcTimestamp,
        attempt -> BigInt,
        failures -> BigInt,
        may_have_sent -> Bool,
        leased_until -> Nullable<UtcTimestamp>,
        stuck_since -> Nullable<UtcTimestamp>,
    }

    events (partner_id, seq) {
        partner_id -> Id,
        seq -> BigInt,
        id -> Id,
        kind -> Text,
        data -> Text,
        created_at -> UtcTimestamp,
        employee_id -> Nullable<Id>,
    }

    webhooks (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        url -> Text,
        types -> Nullable<Text>,
        description -> Text,
        sealed -> Bool,
        enabled -> Bool,
        created_at -> UtcTimestamp,
        last_success_at -> Nullable<UtcTimestamp>,
        last_failure_at -> Nullable<UtcTimestamp>,
        failing_since -> Nullable<UtcTimestamp>,
        secret -> Binary,
        former_secret -> Nullable<Binary>,
        former_until -> Nullable<UtcTimestamp>,
        cursor -> BigInt,
        due_at -> Nullable<UtcTimestamp>,
        lease_owner -> Nullable<Id>,
        leased_until -> Nullable<UtcTimestamp>,
        failures -> BigInt,
        paused_until -> Nullable<UtcTimestamp>,
        redelivery_after -> Nullable<BigInt>,
        redelivery_until -> Nullable<BigInt>,
        redelivery_left -> Nullable<BigInt>,
    }

    webhook_deliveries (partner_id, webhook_id, position) {
        partner_id -> Id,
        webhook_id -> Id,
        position -> BigInt,
        id -> Id,
        seq -> BigInt,
        event_id -> Id,
        kind -> Text,
        status -> Text,
        attempts -> BigInt,
        last_attempt_at -> Nullable<UtcTimestamp>,
        last_status_code -> Nullable<BigInt>,
        last_error -> Nullable<Text>,
        next_attempt_at -> Nullable<UtcTimestamp>,
        created_at -> UtcTimestamp,
    }

    runs (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        seq -> BigInt,
        kind -> Text,
        reference -> Nullable<Text>,
        planned_at -> Nullable<UtcTimestamp>,
        creates_categories -> Bool,
        items -> BigInt,
        faulty -> BigInt,
        amount -> BigInt,
        available -> BigInt,
        available_after -> BigInt,
        digest -> Binary,
        created_by -> Text,
        created_at -> UtcTimestamp,
        state -> Text,
        state_since -> UtcTimestamp,
        submitted_by -> Nullable<Text>,
        submitted_at -> Nullable<UtcTimestamp>,
        approved_by -> Nullable<Text>,
        refusal -> Nullable<Text>,
        due_at -> Nullable<UtcTimestamp>,
        programme_id -> Nullable<Id>,
        period -> Nullable<Text>,
        terms -> Nullable<Text>,
        retry_at -> Nullable<UtcTimestamp>,
    }

    programmes (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        name -> Text,
        terms -> Text,
        state -> Text,
        proposed_terms -> Nullable<Text>,
        proposed_by -> Nullable<Text>,
        proposed_at -> Nullable<UtcTimestamp>,
        created_by -> Text,
        created_at -> UtcTimestamp,
        since -> UtcTimestamp,
        last_period -> Nullable<Text>,
        notice_period -> Nullable<Text>,
        is_of_the_day -> Bool,
        told_short -> Bool,
        look_at -> Nullable<UtcTimestamp>,
    }

    calendar_days (day) {
        day -> Day,
        kind -> Text,
    }

    run_items (partner_id, run_id, ordinal) {
        partner_id -> Id,
        run_id -> Id,
        ordinal -> BigInt,
        line -> BigInt,
        cells -> Nullable<Binary>,
        spending_limit -> Nullable<Text>,
        employee_id -> Nullable<Id>,
        custom_id -> Nullable<Text>,
        card_id -> Nullable<Id>,
        is_main -> Bool,
        amount -> Nullable<BigInt>,
        fault_field -> Nullable<Text>,
        fault_code -> Nullable<Text>,
        fault_detail -> Nullable<Text>,
        outcome -> Nullable<Text>,
        reason -> Nullable<Text>,
        balance_seen -> Nullable<BigInt>,
    }

    run_requests (partner_id, run_id, position) {
        partner_id -> Id,
        run_id -> Id,
        position -> BigInt,
        kind -> Text,
        request_id -> Id,
    }

    audit_chains (chain) {
        chain -> BigInt,
        opened_at -> UtcTimestamp,
        hash -> Binary,
        commands -> Bool,
    }

    audit_entries (chain, number) {
        chain -> BigInt,
        number -> BigInt,
        hash -> Binary,
        at -> UtcTimestamp,
        actor -> Text,
        credential -> Nullable<Id>,
        operator -> Nullable<Text>,
        partner -> Nullable<Id>,
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
        actor_id -> Nullable<Id>,
    }

    history_notices (number) {
        number -> BigInt,
        noted_at -> UtcTimestamp,
        kind -> Text,
        detail -> Text,
    }

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
allow_tables_to_appear_in_same_query!(counters, events);
allow_tables_to_appear_in_same_query!(events, webhook_deliveries);
allow_tables_to_appear_in_same_query!(counters, partners, webhooks);
allow_tables_to_appear_in_same_query!(categories, employees);
