-- Files that users have sent to the console and not used yet. They are bounded in number and time, and encrypted: they hold
-- personal data. Operators have none, but the key is that of users.
CREATE TABLE user_uploads (
    partner_id UUID        NOT NULL,
    id         UUID        NOT NULL,
    user_id    UUID        NOT NULL,
    content    BYTEA       NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (partner_id, id),
    FOREIGN KEY (partner_id, user_id) REFERENCES users (partner_id, id)
);

CREATE INDEX user_uploads_of_user ON user_uploads (partner_id, user_id);
CREATE INDEX user_uploads_by_end ON user_uploads (expires_at);
