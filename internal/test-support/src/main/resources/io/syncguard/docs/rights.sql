-- The GRANTs of docs/security.md. DocumentedRights gives them to the roles of tests.

-- sample: rights-schema
REVOKE ALL ON DATABASE shop FROM PUBLIC;
GRANT CONNECT ON DATABASE shop TO migration;
CREATE SCHEMA locking AUTHORIZATION migration;
ALTER DEFAULT PRIVILEGES FOR ROLE migration REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
-- end

-- sample: rights-public
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
-- end

-- sample: rights-locks
GRANT CONNECT ON DATABASE shop TO orders;
GRANT USAGE ON SCHEMA locking TO orders;
GRANT SELECT, INSERT, UPDATE, DELETE ON locking.syncguard_locks TO orders;
GRANT SELECT, INSERT, UPDATE, DELETE ON locking.syncguard_locks_shared TO orders;
GRANT SELECT, INSERT, UPDATE, DELETE ON locking.syncguard_locks_waiters TO orders;
GRANT SELECT, INSERT, UPDATE ON locking.syncguard_fence_counters TO orders;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA locking TO orders;
-- end

-- sample: rights-later
ALTER DEFAULT PRIVILEGES FOR ROLE migration IN SCHEMA locking GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO orders;
ALTER DEFAULT PRIVILEGES FOR ROLE migration IN SCHEMA locking GRANT EXECUTE ON FUNCTIONS TO orders;
-- end

-- sample: rights-clock
GRANT DELETE ON locking.syncguard_fence_counters TO orders;
-- end

-- sample: rights-guard
GRANT USAGE ON SCHEMA locking TO billing;
GRANT SELECT (lock_id), UPDATE (owner) ON locking.syncguard_locks TO billing;
GRANT SELECT (lock_id), UPDATE (owner) ON locking.syncguard_locks_shared TO billing;
-- end

-- sample: rights-fences
GRANT USAGE ON SCHEMA locking TO billing;
GRANT SELECT, INSERT, UPDATE ON locking.syncguard_fences TO billing;
-- end

-- sample: rights-create
GRANT CONNECT ON DATABASE shop TO orders;
GRANT USAGE, CREATE ON SCHEMA locking TO orders;
-- end
