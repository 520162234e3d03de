-- The largest fence that each resource has seen. NEVER delete a row: the resource would accept an older fence again.
-- Runs by Flyway or by SyncGuard; by hand, put the name of the table in place of ${syncguard_fences}.
CREATE TABLE IF NOT EXISTS ${syncguard_fences} (
    resource VARCHAR(512) NOT NULL PRIMARY KEY,
    fence    BIGINT NOT NULL
);
