-- Grants a key that has neither lease nor queue, and a counter that is behind the clock, to a writer. Most keys are like
-- this. The keys of the request are behind KEYS[k], its arguments behind ARGV[a].

-- The fence is the first write: with full memory Redis refuses it, and nothing has changed.
if ARGV[a + 3] == 'EXCLUSIVE' and ARGV[a + 1] ~= ''
    and redis.call('EXISTS', KEYS[k + 1], KEYS[k + 3], KEYS[k + 4]) == 0
    and draw_clock_fence(KEYS[k + 2], ARGV[a + 1])
then
    if common_ttl ~= ARGV[a + 4] then
        common_ttl = ARGV[a + 4]
        common_over = clock_millis + common_ttl .. ''
        common_times = ' ' .. common_over .. ' ' .. clock_millis .. ' ' .. clock_fence .. ' '
        common_answer = 'granted ' .. clock_fence .. ' ' .. clock_millis .. ' ' .. common_over
    end
    redis.call('SET', KEYS[k + 1], '-' .. ARGV[a + 2] .. common_times .. ARGV[a + 5], 'PXAT', common_over)
    redis.call('SET', KEYS[k + 8], ARGV[a + 6], 'PXAT', common_over)
    return common_answer
end
