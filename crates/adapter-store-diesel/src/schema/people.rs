//! The tables of users.

use super::tables;

tables! {
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
}
