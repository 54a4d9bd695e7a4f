//! The tables for Diesel; `migrations` creates them.

diesel::table! {
    presses (id) {
        id -> Integer,
        scramble_key -> BigInt,
        plastic_issued -> BigInt,
        virtual_issued -> BigInt,
    }
}

diesel::table! {
    instructions (id) {
        id -> BigInt,
        key -> Text,
        kind -> Text,
        fingerprint -> Binary,
        verdict -> Text,
        applied -> Integer,
        returned -> Nullable<BigInt>,
    }
}

diesel::table! {
    cards (number) {
        number -> BigInt,
        kind -> Text,
        order_id -> BigInt,
        ordinal -> Integer,
        balance -> BigInt,
        standing -> Text,
        valid_until -> Integer,
        issued_at -> BigInt,
        activated_at -> Nullable<BigInt>,
        first_top_up -> Nullable<BigInt>,
        activation_code -> Nullable<Text>,
        code_valid_until -> Nullable<Integer>,
    }
}

diesel::table! {
    transactions (id) {
        id -> BigInt,
        card -> BigInt,
        kind -> Text,
        amount -> BigInt,
        executed_at -> BigInt,
        place -> Nullable<Text>,
        mcc -> Nullable<Text>,
        merchant_id -> Nullable<Text>,
        instruction_id -> Nullable<BigInt>,
        payment_id -> Nullable<BigInt>,
    }
}

diesel::table! {
    feed (seq) {
        seq -> BigInt,
        card -> BigInt,
        kind -> Text,
        at -> BigInt,
        transaction_id -> Nullable<BigInt>,
        tried_at -> Nullable<BigInt>,
        amount -> Nullable<BigInt>,
        reason -> Nullable<Text>,
        place -> Nullable<Text>,
        mcc -> Nullable<Text>,
        merchant_id -> Nullable<Text>,
    }
}

diesel::table! {
    limits (card) {
        card -> BigInt,
        amount -> Nullable<BigInt>,
        period -> Nullable<Text>,
        days -> Text,
        windows -> Text,
        only_categories -> Nullable<Text>,
        except_categories -> Nullable<Text>,
    }
}

diesel::table! {
    blocks (card) {
        card -> BigInt,
        blocked -> Bool,
        change -> BigInt,
    }
}

diesel::table! {
    commands (key) {
        key -> Text,
        transaction_id -> Nullable<BigInt>,
        refusal -> Nullable<Text>,
        made_at -> BigInt,
    }
}

diesel::allow_tables_to_appear_in_same_query!(instructions, transactions);
