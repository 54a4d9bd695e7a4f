-- Users: the people who work with a partner's programme, and operators, who belong to no partner: their partner_id is the
-- nil identifier. For that reason it refers to no row of partners. The login is an e-mail address, encrypted; login_digest is
-- its keyed digest for look-ups. initial_until: until when a password that another person has set is accepted.
CREATE TABLE users (
    partner_id    UUID        NOT NULL,
    id            UUID        NOT NULL,
    login         BYTEA       NOT NULL,
    login_digest  BYTEA       NOT NULL CHECK (length(login_digest) = 32),
    role          TEXT        NOT NULL,
    status        TEXT        NOT NULL CHECK (status IN ('ACTIVE', 'DISABLED')),
    password_hash TEXT        NOT NULL,
    initial_until TIMESTAMPTZ,
    -- The second factor: its secret, encrypted, and the last step of 30 seconds whose code was accepted.
    totp_secret   BYTEA,
    totp_step     BIGINT,
    created_at    TIMESTAMPTZ NOT NULL,
    last_login_at TIMESTAMPTZ,
    PRIMARY KEY (partner_id, id),
    CONSTRAINT users_second_factor_is_whole CHECK ((totp_secret IS NULL) = (totp_step IS NULL)),
    CONSTRAINT users_operators_have_no_partner
        CHECK ((role = 'OPERATOR') = (partner_id = '00000000-0000-0000-0000-000000000000'))
);

CREATE UNIQUE INDEX users_login ON users (login_digest);

-- SHA-256 of recovery codes that are not used yet; a code has 120 random bits.
CREATE TABLE user_recovery_codes (
    partner_id UUID  NOT NULL,
    user_id    UUID  NOT NULL,
    digest     BYTEA NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (partner_id, user_id, digest),
    FOREIGN KEY (partner_id, user_id) REFERENCES users (partner_id, id)
);

-- Sessions of users, and logins that wait for their second factor (PENDING). token_digest is the SHA-256 of 256 random bits,
-- setup the secret of an authenticator app that is being set up, encrypted.
CREATE TABLE user_sessions (
    partner_id   UUID        NOT NULL,
    id           UUID        NOT NULL,
    user_id      UUID        NOT NULL,
    token_digest BYTEA       NOT NULL CHECK (length(token_digest) = 32),
    stage        TEXT        NOT NULL CHECK (stage IN ('PENDING', 'OPEN')),
    setup        BYTEA,
    address      TEXT,
    created_at   TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ NOT NULL,
    expires_at   TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (partner_id, id),
    FOREIGN KEY (partner_id, user_id) REFERENCES users (partner_id, id),
    CONSTRAINT user_sessions_set_up_while_pending CHECK (setup IS NULL OR stage = 'PENDING')
);

CREATE UNIQUE INDEX user_sessions_by_token ON user_sessions (token_digest);
CREATE INDEX user_sessions_of_user ON user_sessions (partner_id, user_id);
CREATE INDEX user_sessions_by_end ON user_sessions (expires_at);
