-- Ends an exclusive lease that has not lapsed, and grants the key to the first waiter, if that is a live writer that
-- accepts a hand-over. Nearly all leases for which somebody waits end like this. Returns the answer, or nil to other
-- requests. Needs clock_texts.lua. For the offsets see grant_free.lua; the lease is its text.
local function hand_over(key_offset, arg_offset, lease)
    local mark = '+' .. ARGV[arg_offset + 2] .. ' '
    local over = lease and string.sub(lease, 1, #mark) == mark and tonumber(string.match(lease, '^(%d+) ', #mark + 1))
    local now = tonumber(clock_millis)
    if not over or over <= now or ARGV[arg_offset + 1] == '' then
        return nil
    end
    local queue, waiting, waiters = KEYS[key_offset + 4], KEYS[key_offset + 6], KEYS[key_offset + 7]
    local first, second = unpack(redis.call('ZRANGE', queue, '0', '1'))
    local waiter, ttl, secret, length, rest = string.match(
        first and redis.call('HGET', waiters, first) or '', '^EXCLUSIVE %d+ (%d+) (%d+) (%S+) (%d+) (.*)$')
    -- Beside a writer there are no readers, unless somebody has written a key by hand.
    if not waiter or secret == '-' or tonumber(redis.call('ZSCORE', waiting, first) or 0) <= now
        or redis.call('EXISTS', KEYS[key_offset + 3]) == 1
    then
        return nil
    end
    -- The first write is a command that Redis allows with full memory. It allows the rest of the script then.
    redis.call('DEL', KEYS[key_offset + 8])
    if not draw_clock_fence(KEYS[key_offset + 2], ARGV[arg_offset + 1]) then
        return nil
    end
    redis.call('ZREM', queue, first)
    redis.call('ZREM', waiting, first)
    redis.call('HDEL', waiters, first)
    local expires_at = string.format('%.0f', now + ttl)
    local free_at = string.format('%.0f', now + ttl + TOLERANCE)
    local times = ' ' .. free_at .. ' ' .. clock_millis .. ' ' .. clock_fence .. ' '
    redis.call(
        'SET', KEYS[key_offset + 1], (second and '+' or '-') .. first .. times .. string.sub(rest, length + 1), 'PXAT',
        free_at)
    local channel = string.sub(rest, 1, length)
    if channel == ARGV[arg_offset + 3] then
        return { 'released', waiter, clock_fence, clock_millis, expires_at }
    end
    -- It is a pcall, because a user without the right to this channel must not make a release by others fail.
    redis.pcall(
        'PUBLISH', channel, waiter .. ' ' .. secret .. ' ' .. clock_fence .. ' ' .. clock_millis .. ' ' .. expires_at)
    return { 'released' }
end
