//! The tables of who acts: partners and their keys, scoped credentials, users; their sessions, failures and requests.

use super::tables;

tables! {
    partners (id) {
        id -> Id,
        name -> Text,
        login -> Text,
        api_key_hash -> Binary,
        password_hash -> Text,
        status -> Text,
        sealing -> Text,
        created_at -> UtcTimestamp,
        former_api_key_hash -> Nullable<Binary>,
        former_api_key_until -> Nullable<UtcTimestamp>,
        leavers_freeze -> Bool,
        leavers_after_days -> Nullable<BigInt>,
        leavers_close -> Bool,
    }

    sealing_keys (partner_id, key_id) {
        partner_id -> Id,
        key_id -> Binary,
        encrypted_secret -> Binary,
        created_at -> UtcTimestamp,
        accepted_until -> Nullable<UtcTimestamp>,
        first_used_at -> Nullable<UtcTimestamp>,
    }

    credentials (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        name -> Text,
        scopes -> Text,
        addresses -> Nullable<Text>,
        login -> Text,
        api_key_hash -> Binary,
        password_hash -> Text,
        key_id -> Binary,
        encrypted_secret -> Binary,
        created_at -> UtcTimestamp,
        revoked_at -> Nullable<UtcTimestamp>,
    }

    users (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        login -> Binary,
        login_digest -> Binary,
        role -> Text,
        status -> Text,
        password_hash -> Text,
        initial_until -> Nullable<UtcTimestamp>,
        totp_secret -> Nullable<Binary>,
        totp_step -> Nullable<BigInt>,
        created_at -> UtcTimestamp,
        last_login_at -> Nullable<UtcTimestamp>,
    }

    user_recovery_codes (partner_id, user_id, digest) {
        partner_id -> Id,
        user_id -> Id,
        digest -> Binary,
    }

    user_sessions (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        user_id -> Id,
        token_digest -> Binary,
        stage -> Text,
        setup -> Nullable<Binary>,
        address -> Nullable<Text>,
        created_at -> UtcTimestamp,
        last_used_at -> UtcTimestamp,
        expires_at -> UtcTimestamp,
    }

    user_uploads (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        user_id -> Id,
        content -> Binary,
        created_at -> UtcTimestamp,
        expires_at -> UtcTimestamp,
    }

    sessions (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        created_at -> UtcTimestamp,
        expires_at -> UtcTimestamp,
        revoked -> Bool,
        last_used_at -> Nullable<UtcTimestamp>,
        address -> Nullable<Text>,
        credential_id -> Nullable<Id>,
    }

    token_pairs (partner_id, id) {
        partner_id -> Id,
        id -> Id,
        session_id -> Id,
        state -> Text,
        used -> Bool,
        successor -> Nullable<Id>,
        reissued -> Bool,
        refresh_expires_at -> UtcTimestamp,
    }

    request_log (partner_id, seq) {
        partner_id -> Id,
        seq -> BigInt,
        at -> UtcTimestamp,
        request_id -> Text,
        operation -> Text,
        status -> Integer,
        code -> Nullable<Text>,
        fields -> Text,
        duration_ms -> BigInt,
        credential -> Nullable<Id>,
        address -> Nullable<Text>,
        replayed -> Bool,
    }

    login_failures (id) {
        id -> BigInt,
        subject -> Binary,
        failed_at -> UtcTimestamp,
    }

    spent_nonces (api_key_hash, nonce) {
        api_key_hash -> Binary,
        nonce -> Text,
        spent_at -> UtcTimestamp,
    }
}
