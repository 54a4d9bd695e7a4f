-- Backoff for an endpoint that fails many times in a row, and redeliveries that are queued page by page.

-- Failed attempts since the last accepted delivery, and until when none is made because of them.
ALTER TABLE webhooks ADD COLUMN failures BIGINT NOT NULL DEFAULT 0
    CONSTRAINT webhooks_failures_not_below_zero CHECK (failures >= 0);
ALTER TABLE webhooks ADD COLUMN paused_until TIMESTAMPTZ;

-- Events behind the first number up to the second are to be delivered once more, and how many of them are left.
ALTER TABLE webhooks ADD COLUMN redelivery_after BIGINT;
ALTER TABLE webhooks ADD COLUMN redelivery_until BIGINT;
ALTER TABLE webhooks ADD COLUMN redelivery_left BIGINT;
