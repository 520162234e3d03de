-- Queues a writer behind all others, if somebody else has a live exclusive lease. Most waiters come here. Returns the
-- answer, or nil to other requests and to a caller that has an entry. Needs clock_texts.lua and queue_expiry.lua. For
-- the offsets see grant_free.lua.
local function enter_queue(key_offset, arg_offset)
    local lock_id, waiter = ARGV[arg_offset + 2], ARGV[arg_offset + 7]
    local lease = waiter ~= '' and ARGV[arg_offset + 3] == 'EXCLUSIVE' and redis.call('GET', KEYS[key_offset + 1])
    local mark, holder, over, start, label = string.match(lease or '', '^([-+])(%S+) (%d+) (%d+) %d+ (.*)$')
    local now = tonumber(clock_millis)
    if not mark or tonumber(over) <= now or holder == lock_id then
        return nil
    end
    local queue, waiting, waiters = KEYS[key_offset + 4], KEYS[key_offset + 6], KEYS[key_offset + 7]
    if redis.call('ZSCORE', queue, lock_id) then
        return nil
    end
    -- The arrival is one behind the last, and not the clock: two callers of one millisecond would have no order.
    local last = redis.call('ZREVRANGE', queue, '0', '0', 'WITHSCORES')[2]
    redis.call('ZADD', queue, string.format('%.0f', (last or 0) + 1), lock_id)
    -- These are the times at which the first of those in front lapses.
    local writer, reader
    if last then
        writer = redis.call(
            'ZRANGEBYSCORE', waiting, '(' .. clock_millis, string.format('(%.0f', READERS), 'WITHSCORES', 'LIMIT', '0',
            '1')[2]
        reader = redis.call(
            'ZRANGEBYSCORE', waiting, string.format('(%.0f', READERS + now), '+inf', 'WITHSCORES', 'LIMIT', '0', '1')[2]
    end
    local waiter_ttl = tonumber(string.match(waiter, ' (%d+)'))
    redis.call('HSET', waiters, lock_id, 'EXCLUSIVE ' .. clock_millis .. ' ' .. waiter .. ARGV[arg_offset + 5])
    redis.call('ZADD', waiting, string.format('%.0f', now + waiter_ttl), lock_id)
    keep_queue(queue, waiting, waiters, now, waiter_ttl)
    -- The key 'id' expires after the lease that a release may make of the entry.
    redis.call(
        'SET', KEYS[key_offset + 8], ARGV[arg_offset + 6], 'PXAT',
        string.format('%.0f', now + 2 * waiter_ttl + TOLERANCE))
    if mark == '-' then
        -- The release has to look for waiters.
        redis.call('SET', KEYS[key_offset + 1], '+' .. string.sub(lease, 2), 'KEEPTTL')
    end
    local next_look = math.min(over, writer or math.huge, reader and reader - READERS or math.huge)
    return { 'queued', next_look - now, label, tonumber(start), 0 }
end
