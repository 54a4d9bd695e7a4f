-- Merchant categories of a limit: codes NNNN and ranges NNNN-NNNN with commas between them. NULL: not set.
ALTER TABLE limits ADD COLUMN only_categories TEXT CHECK (only_categories <> '');
ALTER TABLE limits ADD COLUMN except_categories TEXT
    CHECK (except_categories IS NULL OR (except_categories <> '' AND only_categories IS NULL));
