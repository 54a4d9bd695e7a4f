-- Finds a partner's active sessions, the latest first: those beyond the limit end at a login, and a command ends all.
CREATE INDEX sessions_of_partner ON sessions (partner_id, revoked, created_at, id);
