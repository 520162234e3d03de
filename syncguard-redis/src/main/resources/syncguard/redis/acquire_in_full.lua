-- An attempt that neither grant_free nor enter_queue answers. For the arguments and the answers see acquire.lua. If it
-- only looks, it answers 'free' in place of a grant, and writes nothing; such a caller does not wait.
--
-- 1. It reads what blocks the request: the exclusive lease, the readers, and the queue entries in front.
-- 2. If nothing does, it grants the key: grants.lua draws the fence and writes the lease.
-- 3. If the caller's own lease is in the way, it answers that one, with a whole ttl.
-- 4. Otherwise it refuses a try, deletes the entry of a waiter that gives up, or queues the waiter and tells it when to
--    look again (queue.lua, waits.lua).

-- include leases

local k = lock_keys(1)
local lock_id, ttl, label = ARGV[2], ARGV[4] - TOLERANCE, ARGV[5]
local permits, unlimited = tonumber(string.sub(ARGV[3], #'SHARED' + 1)), ARGV[3] == 'SHARED'
local shared = unlimited or permits ~= nil
local waiter = ARGV[7]
local waits = waiter ~= ''
local written = exclusive_lease(k)

-- The expiry of the last reader that has to end first: a writer waits for all readers, and a request with permits until
-- fewer are left. It is 0 if no reader has to end. Lapsed readers count.
local read_until = unlimited and 0 or last_score(k.readers, permits)
-- The caller's own lease is not in the way.
if permits and read_until > now - TOLERANCE then
    local own = tonumber(redis.call('ZSCORE', k.readers, lock_id))
    if own and own > now - TOLERANCE then
        read_until = last_score(k.readers, permits + 1)
    end
end

-- Notes for which key the lock id is, and returns the answer of the grant.
local function granted(lease)
    local over = text(lease.expires_at + TOLERANCE)
    redis.call('SET', k.id, ARGV[6], 'PXAT', over)
    return table.concat({ 'granted', lease.fence, lease.start, over }, ' ')
end

-- Returns the answer for a lease that the caller has already, or nil if it has none. A release has handed the key over,
-- and the message has not arrived; or the caller asks again because an answer was lost; or the driver of a cluster
-- sends a request again that it had sent to a node that has gone. The lease begins now, for a whole ttl.
local function own_grant()
    local own = written
    if shared then
        local expires_at = redis.call('ZSCORE', k.readers, lock_id)
        own = expires_at and reader_of(k, lock_id, expires_at)
    end
    -- A reader of whose lease Redis has lost a part gets another one.
    if not own or own.lock_id ~= lock_id or not own.fence or not is_live(own) then
        return nil
    end
    if looks then
        return 'free'
    end
    own.start = text(now)
    extend_lease(k, own, now + ttl)
    -- The fence was drawn before this start.
    keep_counter(k, own.shared and last_score(k.readers) or own.expires_at, 0)
    if own.shared then
        write_reader(k, own)
    end
    return granted(own) .. ' again'
end

-- Returns a refusal, with the holder if a lease is in the way.
local function not_granted(outcome, millis)
    if written and is_live(written) then
        return { outcome, millis, written.label, tonumber(written.start), 0 }
    end
    local last = read_until > now - TOLERANCE and redis.call('ZREVRANGE', k.readers, 0, 1, 'WITHSCORES') or {}
    local reader = last[1] and reader_of(k, last[1], last[2])
    if reader and reader.fence then
        local others = last[3] and tonumber(last[4]) > now - TOLERANCE
        return { outcome, millis, reader.label, tonumber(reader.start), others and 1 or 0 }
    end
    return { outcome, millis }
end

-- The time at which the last conflicting lease stops keeping the key from others.
local blocked_until = math.max(written and written.expires_at or 0, read_until) + TOLERANCE
-- The first two entries of the queue, each with its arrival.
local front = redis.call('ZRANGE', k.queue, '0', '1', 'WITHSCORES')
local is_first = front[1] == lock_id
-- The first entry that is not the caller's.
local other = front[1]
if is_first then
    other = front[3]
end

-- Nothing is written for a refused try: everybody tries a hot key, and each write goes to the file and to the replicas.
if not waits and blocked_until > now and not front[1] then
    return own_grant() or not_granted('refused', blocked_until - now)
end

-- include queue
-- include waits

-- Returns the first and the last expiry of the live entries that conflict and are in front of this arrival; of all
-- entries if the caller has none. A try looks at them, too: it must not pass waiters.
local function entries_in_front(arrival)
    if not arrival then
        local first, last = expiries(k, false)
        if unlimited then
            return first, last
        end
        local first_reader, last_reader = expiries(k, true)
        return math.min(first, first_reader), math.max(last, last_reader)
    end
    -- A woken waiter is nearly always the first, with nobody in front: it does not read the whole queue.
    if is_first then
        return math.huge, 0
    end
    local first, last = math.huge, 0
    local live = live_entries(k)
    for _, each in ipairs(redis.call('ZRANGEBYSCORE', k.queue, '-inf', '(' .. arrival)) do
        local entry = live[each]
        if entry and not (unlimited and entry.unlimited) then
            first, last = math.min(first, entry.expires_at), math.max(last, entry.expires_at)
        end
    end
    return first, last
end

-- The caller's queue entry, which may have lapsed, and its arrival if it is live; and the first and the last expiry of
-- the entries in front.
local entry, arrival
local first_in_front, last_in_front = math.huge, 0
if front[1] then
    entry = entry_of(k, lock_id, is_first and front[2])
    arrival = entry and is_live_entry(entry) and entry.arrival or nil
    first_in_front, last_in_front = entries_in_front(arrival)
end
blocked_until = math.max(blocked_until, last_in_front)

-- Tells whether a grant has to wake the next waiter. It has to if that waiter waited for the caller's entry alone,
-- because nobody else wakes it then; and if there is room for it, now or before its next poll.
local function has_to_wake_next(lease)
    if not entry or not other or not shared and ttl + TOLERANCE > poll_of(entry) then
        return false
    end
    local behind = entry_of(k, other, true)
    if not behind or not is_live_entry(behind) then
        return behind ~= nil
    end
    -- Readers without permits that stand next to each other were woken together.
    local is_woken = unlimited and behind.unlimited
    local gets_in = shared and behind.shared or lease.expires_at <= now - TOLERANCE + poll_of(behind)
    return gets_in and not is_woken
end

-- Grants the key. Returns the answer, and whether the next waiter has to be woken.
local function grant()

-- include grants

    if looks then
        return has_fences(k) and 'free' or 'no_fences'
    end
    -- The counter is written before everything else.
    local fence = next_fence(k)
    if not fence then
        return 'no_fences'
    end
    if entry then
        delete_entry(k, lock_id)
    end
    if unlimited or read_until > 0 then
        delete_lapsed_readers(k)
    end
    if shared and written then
        redis.call('DEL', k.lock)
    end
    local lease = { lock_id = lock_id, shared = shared, mark = other and '+' or '-', label = label }
    write_grant(k, lease, fence, ttl)
    return granted(lease), has_to_wake_next(lease)
end

-- Wakes waiters after the caller's entry has left, or without an entry, after a grant.
local function wake_after(left)

-- include wake_ups

    wake(k, left or NOBODY)
end

if blocked_until <= now then
    -- A reader is not in its own way.
    local own = shared and not entry and own_grant()
    if own then
        return own
    end
    local answer, wakes = grant()
    if wakes then
        wake_after(nil)
    end
    return answer
end

local own = own_grant()
if own then
    return own
end
if not waits and not entry then
    return not_granted('refused', blocked_until - now)
end

-- Renews the caller's live entry, which gets another waiter number; or makes one at the end of the queue. A lapsed
-- entry has lost its place.
local function queue_up()
    local waiter_ttl = tonumber(string.match(waiter, ' (%d+)'))
    local arrived_at = arrival and entry.arrived_at or text(now)
    -- It outlives the lease that a release may make of the entry.
    local last_use = text(now + 2 * waiter_ttl + TOLERANCE)
    if arrival then
        -- The first write is a command that Redis allows with full memory. It allows the rest of the script then: a
        -- waiter can renew.
        redis.call('PEXPIREAT', k.id, last_use)
    else
        -- The arrival is one behind the last, and not the clock: two callers of one millisecond would have no order.
        arrival = text(last_score(k.queue) + 1)
        redis.call('ZADD', k.queue, arrival, lock_id)
        -- A release has to find the entry, and not a lease of the caller that has lapsed.
        if shared and redis.call('ZREM', k.readers, lock_id) == 1 then
            redis.call('HDEL', k.shared, lock_id)
        end
    end
    redis.call('HSET', k.waiters, lock_id, table.concat({ ARGV[3], arrived_at, waiter }, ' ') .. label)
    redis.call('SET', k.id, ARGV[6], 'PXAT', last_use)
    renew_entry(k, lock_id, unlimited, now + waiter_ttl)
    keep_queue(k.queue, k.waiting, k.waiters, now, waiter_ttl)
    if written and written.mark == '-' then
        -- Its release has to look for waiters.
        redis.call('SET', k.lock, '+' .. string.sub(written.value, 2), 'KEEPTTL')
    end
end

-- Returns when it is worth trying again: when the first conflicting lease is over, because the others may be released
-- before; or when the first entry in front lapses, because its waiter may be dead.
local function next_look()
    local waits_for_readers = read_until > now - TOLERANCE
    if not waits_for_readers and permits and first_in_front < math.huge then
        -- Those in front may take the places that are left.
        waits_for_readers = is_full(k, permits - places_taken(k, arrival))
    end
    local first_reader = waits_for_readers and first_reader_lapse(k) or math.huge
    return math.min(first_lapse(written), first_reader, first_in_front)
end

if waits then
    queue_up()
    return not_granted('queued', next_look() - now)
end

-- The last attempt of a waiter. Those behind it know from its entry when to look. A lapsed entry goes, too: when the
-- clock steps back, it would be in their way again.
redis.call('DEL', k.id)
delete_entry(k, lock_id)
wake_after(entry)
return not_granted('refused', blocked_until - now)
