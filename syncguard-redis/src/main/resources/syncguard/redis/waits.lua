-- The renewal of queue entries, and the time of the next look. Needs queue.lua.

-- Returns the first expiry in the set after this time; infinite if there is none.
local function first_expiry(set, after, last)
    local first = redis.call('ZRANGEBYSCORE', set, '(' .. text(after), last, 'WITHSCORES', 'LIMIT', 0, 1)[2]
    return tonumber(first) or math.huge
end

-- Returns when the exclusive lease stops keeping the key from others; infinite if there is none.
local function first_lapse(written)
    return written and is_live(written) and written.expires_at + TOLERANCE or math.huge
end

-- Returns when the first of the readers stops keeping the key from others.
local function first_reader_lapse(k)
    return first_expiry(k.readers, now - TOLERANCE, '+inf') + TOLERANCE
end

-- Returns the first and the last expiry of the live entries of readers without permits, or of the others; infinite and
-- 0 if there is none.
local function expiries(k, unlimited)
    local base = unlimited and READERS or 0
    local first = first_expiry(k.waiting, base + now, unlimited and '+inf' or '(' .. text(READERS))
    if first == math.huge then
        return math.huge, 0
    end
    local last = redis.call(
        'ZREVRANGEBYSCORE', k.waiting, unlimited and '+inf' or '(' .. text(READERS), text(first), 'WITHSCORES', 'LIMIT',
        0, 1)[2]
    return first - base, last - base
end

-- Returns the live entries by lock id: the expiry, and whether it is a reader's without permits.
local function live_entries(k)
    local entries = {}
    for _, base in ipairs({ 0, READERS }) do
        local last = base == READERS and '+inf' or '(' .. text(READERS)
        local live = redis.call('ZRANGEBYSCORE', k.waiting, '(' .. text(base + now), last, 'WITHSCORES')
        for i = 1, #live, 2 do
            entries[live[i]] = { unlimited = base == READERS, expires_at = live[i + 1] - base }
        end
    end
    return entries
end

-- Tells whether there are as many shared leases as these permits.
local function is_full(k, permits)
    return permits < 1 or last_score(k.readers, permits) > now - TOLERANCE
end

-- Tells whether the shared leases leave room for this entry.
local function has_room(k, lock_id, unlimited)
    return unlimited or not is_full(k, parse_waiter(redis.call('HGET', k.waiters, lock_id)).permits or 1)
end

-- Returns how many places the live entries in front take beside the leases: none, unless the first of them can be
-- granted the key.
local function places_taken(k, arrival)
    local live, taken = live_entries(k), 0
    for _, each in ipairs(redis.call('ZRANGEBYSCORE', k.queue, '-inf', '(' .. arrival)) do
        if live[each] and taken == 0 and not has_room(k, each, live[each].unlimited) then
            return 0
        end
        taken = taken + (live[each] and 1 or 0)
    end
    return taken
end

local function renew_entry(k, lock_id, unlimited, expires_at)
    redis.call('ZADD', k.waiting, score_of(unlimited, expires_at), lock_id)
end
