-- One attempt to acquire a key. Answers one of
--
--   'granted', fence, start, expiry
--   'refused', milliseconds until the key may become free, holder
--   'queued', milliseconds until it is worth to try again, holder
--   'no_fences': the fence counter has reached its end, and nothing was written
--
-- The holder is for people: owner, start of the lease, and whether others hold the key with it (1 or 0). Of several
-- readers it is the one whose lease expires last. It is left out if only waiters are in the way.
--
-- The arguments from the seventh on say what happens if the key is not granted:
--
--   'TRY'                                             the caller gives up; its queue entry is deleted if it has one
--   'WAIT', waiter ttl, waiter, channel               the caller waits; its queue entry is renewed or made
--   'HAND_OVER', waiter ttl, waiter, channel, secret  the same, and a release may hand the key over to it

-- include leases
-- include grants

local name, mode, lock_id, ttl, user_key, owner = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
local locks, readers, queue, id = key('lock', name), key('readers', name), key('queue', name), key('id', lock_id)

local function grant(fence)
    local lease = { name = name, mode = mode, lock_id = lock_id, user_key = user_key, owner = owner }
    return { 'granted', fence, now, write_grant(lease, fence, ttl) }
end

-- Most keys have neither lease nor queue: one look is enough.
if redis.call('EXISTS', locks, readers, queue, id) == 0 then
    local fence = next_fence(name)
    return fence and grant(fence) or { 'no_fences' }
end

local shared, attempt = mode == 'SHARED', ARGV[7]

-- The caller may be in its own way: a release has handed the key over, and the message has not arrived; or the caller
-- asks again because an answer was lost; or the driver of a cluster sends a request again that it had sent to a node
-- that has gone. Then the caller's lease is the answer, from now on and for a whole ttl. Answers nil if it has none.
local function own_grant()
    local own = find_lease(lock_id)
    if not own then
        return nil
    end
    extend_lease(own, now + ttl)
    redis.call('HSET', id, 'acquired_at_ms', now)
    return { 'granted', tonumber(redis.call('HGET', id, 'fence')), now, now + ttl }
end

-- The answer with the holder, if a lease is in the way.
local function not_granted(outcome, millis)
    for _, set in ipairs(shared and { locks } or { locks, readers }) do
        local last = redis.call('ZREVRANGE', set, 0, 1, 'WITHSCORES')
        if last[1] and tonumber(last[2]) > now - TOLERANCE then
            local holder = redis.call('HMGET', key('id', last[1]), 'owner', 'acquired_at_ms')
            if holder[2] then
                local others = last[3] and tonumber(last[4]) > now - TOLERANCE
                return { outcome, millis, holder[1] or '', tonumber(holder[2]), others and 1 or 0 }
            end
        end
    end
    return { outcome, millis }
end

-- When the last conflicting lease stops keeping the key from others.
local blocked_until = math.max(last_expiry(locks), shared and 0 or last_expiry(readers)) + TOLERANCE
local has_queue = redis.call('EXISTS', queue) == 1

-- Nothing is written for a refused try: everybody tries a hot key, and each write goes to the file and to the replicas.
if attempt == 'TRY' and blocked_until > now and not has_queue then
    return own_grant() or not_granted('refused', blocked_until - now)
end

-- include queue
-- include waits

-- The first and the last expiry of the live entries in the set that arrived earlier; of all if the caller has no entry.
local function expiries_before(set, arrival)
    if not arrival then
        return first_expiry(set, now), last_expiry(set)
    end
    local first, last = math.huge, 0
    local live = live_entries(set)
    for i = 1, #live, 2 do
        -- Strictly: the first in the queue must not wait for itself or for those behind it.
        if parse_entry(live[i]).arrival < arrival then
            local expires_at = tonumber(live[i + 1])
            first, last = math.min(first, expires_at), expires_at
        end
    end
    return first, last
end

-- The first and the last expiry of the live entries that conflict and are in front. A try looks at them, too: it must
-- not pass those who wait.
local function entries_in_front(entry, arrival)
    -- A woken waiter is nearly always the first, with nobody in front: it does not read the whole queue.
    if arrival and redis.call('ZRANGE', queue, 0, 0)[1] == entry then
        return math.huge, 0
    end
    local first, last = expiries_before(key(ENTRIES.EXCLUSIVE, name), arrival)
    if shared then
        return first, last
    end
    local first_reader, last_reader = expiries_before(key(ENTRIES.SHARED, name), arrival)
    return math.min(first, first_reader), math.max(last, last_reader)
end

-- The caller's queue entry; its arrival if it is live; and when the first of those in front lapses.
local entry, arrival
local first_in_front, last_in_front = math.huge, 0
if has_queue then
    entry = redis.call('HGET', id, 'entry') or nil
    arrival = entry and is_live_entry(name, entry) and parse_entry(entry).arrival or nil
    first_in_front, last_in_front = entries_in_front(entry, arrival)
end
blocked_until = math.max(blocked_until, last_in_front)

if blocked_until <= now then
    -- A reader is not in its own way.
    local own = shared and not entry and own_grant()
    if own then
        return own
    end
    local fence = next_fence(name)
    if not fence then
        return { 'no_fences' }
    end
    delete_lapsed_leases(name)
    if entry then
        delete_entry(name, entry)
    end
    -- It may have fields of the entry.
    redis.call('DEL', id)
    return grant(fence)
end

local own = own_grant()
if own then
    return own
end
if attempt == 'TRY' and not entry then
    return not_granted('refused', blocked_until - now)
end

-- Renews the caller's entry, or makes one at the end of the queue.
local function queue_up()
    local waiter_ttl, waiter, channel, secret = tonumber(ARGV[8]), ARGV[9], ARGV[10], ARGV[11]
    if entry then
        -- A lapsed entry is lost. A live one gets another waiter number.
        delete_entry(name, entry)
    end
    if not arrival then
        -- Behind the last and not by the clock: two callers of one millisecond would have no order.
        arrival = (tonumber(redis.call('ZREVRANGE', queue, 0, 0, 'WITHSCORES')[2]) or 0) + 1
        redis.call('HSET', id, 'arrived_at_ms', now)
    end
    entry = table.concat({ text(arrival), mode, lock_id, waiter, channel }, ':')
    redis.call('ZADD', queue, arrival, entry)
    redis.call('HSET', id, 'name', name, 'entry', entry, 'user_key', user_key, 'owner', owner)
    if attempt == 'HAND_OVER' then
        redis.call('HSET', id, 'waiter_ttl', waiter_ttl, 'secret', secret)
    end
    renew_entry(name, entry, now + waiter_ttl)
end

if attempt ~= 'TRY' then
    queue_up()
    -- It is worth to try again when the first conflicting lease is over, as the others may be released before; or when
    -- the first entry in front lapses, as its waiter may be dead.
    local next_look = math.min(first_lapse(locks), shared and math.huge or first_lapse(readers), first_in_front)
    return not_granted('queued', next_look - now)
end

-- include wake_ups

-- The last attempt of a waiter. Those behind it know from its entry when to look. A lapsed entry goes, too: when the
-- clock steps back, it would be in their way again.
delete_entry(name, entry)
redis.call('DEL', id)
wake(name, parse_entry(entry))
return not_granted('refused', blocked_until - now)
