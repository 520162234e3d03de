-- For MySQL and MariaDB.
-- The largest fence that each resource has seen. NEVER delete a row: the resource would accept an older fence again.
-- Runs by Flyway or by SyncGuard; by hand, put the name of the table in place of ${syncguard_fences}.
-- The resource is its UTF-8 bytes, because collations take different texts for equal. CONVERT(resource USING utf8mb4)
-- shows the text.
CREATE TABLE IF NOT EXISTS ${syncguard_fences} (
    resource VARBINARY(512) NOT NULL PRIMARY KEY,
    fence    BIGINT NOT NULL
) ENGINE = InnoDB;
