-- The statements of docs/capacity.md. CounterGrowthRecipeTests runs them.

-- sample: counter-size
SELECT t.n_live_tup AS counters,            -- an estimate, which reads no row
       t.n_tup_ins - t.n_tup_del AS growth, -- since stats_reset, or ever
       pg_size_pretty(pg_table_size(t.relid)) AS table_size,
       pg_size_pretty(pg_indexes_size(t.relid)) AS index_size,
       d.stats_reset
FROM pg_stat_user_tables t, pg_stat_database d
WHERE t.relid = 'syncguard_fence_counters'::regclass AND d.datname = current_database();
-- end

-- sample: counter-names
SELECT split_part(key_debug, ':', 1) AS name, count(*) AS counters, max(fence) AS largest_fence
FROM syncguard_fence_counters -- on a large table: TABLESAMPLE SYSTEM (1), and counters times 100
GROUP BY name
ORDER BY counters DESC
LIMIT 10;
-- end
