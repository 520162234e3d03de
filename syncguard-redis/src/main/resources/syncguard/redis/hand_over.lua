-- A frequent answer of release.lua, for one request or for one of a batch. Needs clock_texts.lua.

-- Ends an exclusive lease that has not lapsed, and grants the key to the first waiter: a writer that accepts a hand-over.
-- Nearly all leases end like this for which somebody waits. Answers nil to other requests. For the indexes see grant_free;
-- the lease is as it is written.
local function hand_over(k, a, lease)
    local mark = '+' .. ARGV[a + 2] .. ' '
    local over = lease and string.sub(lease, 1, #mark) == mark and tonumber(string.match(lease, '^(%d+) ', #mark + 1))
    local now = tonumber(clock_millis)
    if not over or over <= now or ARGV[a + 1] == '' then
        return nil
    end
    local queue, waiting, waiters = KEYS[k + 4], KEYS[k + 6], KEYS[k + 7]
    local first, second = unpack(redis.call('ZRANGE', queue, '0', '1'))
    local waiter, ttl, secret, length, rest = string.match(
        first and redis.call('HGET', waiters, first) or '', '^EXCLUSIVE %d+ (%d+) (%d+) (%S+) (%d+) (.*)$')
    if not waiter or secret == '-' or ttl + TOLERANCE > tonumber(ARGV[a + 1])
        or tonumber(redis.call('ZSCORE', waiting, first) or 0) <= now or redis.call('EXISTS', KEYS[k + 3]) == 1
    then
        return nil
    end
    -- First a command that Redis allows with full memory. It allows the rest of the script then.
    redis.call('DEL', KEYS[k + 8])
    if not draw_clock_fence(KEYS[k + 2], ARGV[a + 1]) then
        return nil
    end
    redis.call('ZREM', queue, first)
    redis.call('ZREM', waiting, first)
    redis.call('HDEL', waiters, first)
    local expires_at = string.format('%.0f', now + ttl)
    local free_at = string.format('%.0f', now + ttl + TOLERANCE)
    redis.call(
        'SET', KEYS[k + 1], (second and '+' or '-') .. first .. ' ' .. free_at .. ' ' .. clock_millis .. ' ' .. clock_fence
            .. ' ' .. string.sub(rest, length + 1), 'PXAT', free_at)
    local channel = string.sub(rest, 1, length)
    if channel == ARGV[a + 3] then
        return { 'released', waiter, clock_fence, clock_millis, expires_at }
    end
    -- By pcall: a user without the right to this channel must not make a release by others fail.
    redis.pcall(
        'PUBLISH', channel, waiter .. ' ' .. secret .. ' ' .. clock_fence .. ' ' .. clock_millis .. ' ' .. expires_at)
    return { 'released' }
end
