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

local name, mode, lock_id, ttl = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local lease = { name = name, mode = mode, lock_id = lock_id, user_key = ARGV[5], owner = ARGV[6] }
local locks, readers, queue, id = key('lock', name), key('readers', name), key('queue', name), key('id', lock_id)

-- Most keys have neither lease nor queue: one look is enough.
if redis.call('EXISTS', locks, readers, queue, id) == 0 then
    local fence = next_fence(name)
    return fence and { 'granted', fence, now, write_grant(lease, fence, ttl) } or { 'no_fences' }
end

-- include queue
-- include waits

local shared, attempt = mode == 'SHARED', ARGV[7]

-- The caller's queue entry, and its arrival if it is live.
local function own_entry()
    local entry = redis.call('HGET', id, 'entry') or nil
    return entry, entry and is_live_entry(name, entry) and parse_entry(entry).arrival or nil
end

-- The first and the last expiry of the live entries in the set that arrived earlier; of all for a caller without an
-- entry.
local function expiries_before(set, arrival)
    if not arrival then
        return first_expiry(set, now), last_expiry(set)
    end
    local first, last
    local live = live_entries(set)
    for i = 1, #live, 2 do
        -- Strictly: the first in the queue must not wait for itself or for those behind it.
        if parse_entry(live[i]).arrival < arrival then
            first = first or tonumber(live[i + 1])
            last = tonumber(live[i + 1])
        end
    end
    return first, last
end

-- The first and the last expiry of the live entries that conflict and are in front. A try looks at them, too: it must
-- not pass those who wait.
local function entries_in_front(entry, arrival)
    -- A woken waiter is nearly always the first, with nobody in front: it does not read the whole queue.
    if arrival and redis.call('ZRANGE', queue, 0, 0)[1] == entry then
        return nil, nil
    end
    local first, last = expiries_before(key(ENTRIES.EXCLUSIVE, name), arrival)
    if not shared then
        local first_reader, last_reader = expiries_before(key(ENTRIES.SHARED, name), arrival)
        first, last = earlier(first, first_reader), later(last, last_reader)
    end
    return first, last
end

-- When the last conflicting lease stops keeping the key from others; nil if there is none.
local function last_lapse()
    local expires_at = last_expiry(locks)
    if not shared then
        expires_at = later(expires_at, last_expiry(readers))
    end
    return expires_at and expires_at + TOLERANCE
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

-- Renews the caller's entry, or makes one at the end of the queue.
local function queue_up(entry, arrival)
    local waiter_ttl, waiter, channel, secret = tonumber(ARGV[8]), ARGV[9], ARGV[10], ARGV[11]
    if entry then
        -- A lapsed entry is lost. A live one has another waiter number from now on.
        delete_entry(name, entry)
    end
    -- Behind the last and not by the clock: two callers of one millisecond would have no order.
    arrival = arrival or (tonumber(redis.call('ZREVRANGE', queue, 0, 0, 'WITHSCORES')[2]) or 0) + 1
    entry = table.concat({ text(arrival), mode, lock_id, waiter, channel }, ':')
    redis.call('ZADD', queue, arrival, entry)
    redis.call('HSET', id, 'name', name, 'entry', entry)
    if attempt == 'HAND_OVER' then
        redis.call(
            'HSET', id, 'waiter_ttl', waiter_ttl, 'secret', secret, 'user_key', lease.user_key, 'owner', lease.owner)
    end
    renew_entry(name, entry, now + waiter_ttl)
end

-- When it is worth to try again: when the first conflicting lease is over, as the others may be released before; or
-- when the first entry in front lapses, as its waiter may be dead.
local function next_look(first_in_front)
    local lapse = first_lapse(locks)
    if not shared then
        lapse = earlier(lapse, first_lapse(readers))
    end
    return earlier(lapse, first_in_front)
end

local entry, arrival, first_in_front, last_in_front
if redis.call('EXISTS', queue) == 1 then
    entry, arrival = own_entry()
    first_in_front, last_in_front = entries_in_front(entry, arrival)
end
local blocked_until = later(last_lapse(), last_in_front)

if not blocked_until or blocked_until <= now then
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
    return { 'granted', fence, now, write_grant(lease, fence, ttl) }
end

-- The caller may be in its own way: a release has handed the key over, and the message has not arrived; or the driver
-- of a cluster sends a request again that it had sent to a node that has gone. Then the caller's lease is the answer.
local own = find_lease(lock_id)
if own then
    extend_lease(own, now + ttl)
    local grant = redis.call('HMGET', id, 'fence', 'acquired_at_ms')
    return { 'granted', tonumber(grant[1]), tonumber(grant[2]), now + ttl }
end

if attempt ~= 'TRY' then
    queue_up(entry, arrival)
    return not_granted('queued', next_look(first_in_front) - now)
end
-- Nothing is written for a refused try, not even to the file and the replicas: everybody tries a hot key.
if not arrival then
    return not_granted('refused', blocked_until - now)
end

-- include wake_ups

-- The last attempt of a waiter. Those behind it know when to look from its entry, so they are woken.
delete_entry(name, entry)
redis.call('DEL', id)
wake_behind(name, parse_entry(entry))
return not_granted('refused', blocked_until - now)
