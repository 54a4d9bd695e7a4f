-- What the role in the setting `kopeck.service_role` may do with the tables: all that serving and working needs, and no
-- more. The owner runs it; afterwards the role has these privileges, whatever it had before.
DO $$
DECLARE
    role  TEXT := current_setting('kopeck.service_role');
    place TEXT := current_schema();
    name  TEXT;
    owner OID;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', place, role);
    FOR name, owner IN
        SELECT relname, relowner FROM pg_class
        WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = place) AND relkind = 'r'
    LOOP
        -- A GRANT by another user would only be a warning.
        IF NOT pg_has_role(current_user, owner, 'USAGE') THEN
            RAISE EXCEPTION 'the role % does not own the table %', current_user, name;
        END IF;
        IF pg_has_role(role, owner, 'MEMBER') THEN
            RAISE EXCEPTION 'the role % owns the table %', role, name;
        END IF;
        EXECUTE format('REVOKE ALL ON TABLE %I FROM %I', name, role);
        EXECUTE format('GRANT %s ON TABLE %I TO %I', CASE
            WHEN name = '__diesel_schema_migrations' THEN 'SELECT'
            -- A mark says how far a chain goes, and moves on with it.
            WHEN name = 'audit_checkpoints' THEN 'SELECT, INSERT, UPDATE'
            -- These only grow.
            WHEN name LIKE 'audit\_%' OR name = 'history_notices' THEN 'SELECT, INSERT'
            ELSE 'SELECT, INSERT, UPDATE, DELETE'
        END, name, role);
    END LOOP;
END $$;
