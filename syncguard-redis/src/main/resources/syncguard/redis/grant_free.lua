-- Grants a key to a writer if it has neither lease nor queue, and its counter is behind the clock. Most keys are like
-- this. Returns the answer, or nil to other requests. The keys of the request are behind KEYS[key_offset], its
-- arguments behind ARGV[arg_offset]. known_free says that the key has neither lease nor queue. Needs clock_texts.lua.
local function grant_free(key_offset, arg_offset, known_free)
    -- The fence is the first write: with full memory Redis refuses it, and nothing has changed.
    if ARGV[arg_offset + 3] == 'EXCLUSIVE' and ARGV[arg_offset + 1] ~= ''
        and (known_free or redis.call('EXISTS', KEYS[key_offset + 1], KEYS[key_offset + 3], KEYS[key_offset + 4]) == 0)
        and draw_clock_fence(KEYS[key_offset + 2], ARGV[arg_offset + 1])
    then
        if common_ttl ~= ARGV[arg_offset + 4] then
            common_ttl = ARGV[arg_offset + 4]
            common_over = clock_millis + common_ttl .. ''
            common_times = ' ' .. common_over .. ' ' .. clock_millis .. ' ' .. clock_fence .. ' '
            common_answer = 'granted ' .. clock_fence .. ' ' .. clock_millis .. ' ' .. common_over
        end
        redis.call(
            'SET', KEYS[key_offset + 1], '-' .. ARGV[arg_offset + 2] .. common_times .. ARGV[arg_offset + 5], 'PXAT',
            common_over)
        redis.call('SET', KEYS[key_offset + 8], ARGV[arg_offset + 6], 'PXAT', common_over)
        return common_answer
    end
end
