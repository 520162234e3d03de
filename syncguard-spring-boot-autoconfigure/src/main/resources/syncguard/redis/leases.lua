-- The names, the clock and the leases. Each script is one step that nobody comes between.
--
-- Lua makes a function anew each time it comes by. So a script includes queue.lua only where it needs it: most are done before.
--
-- KEYS[1] is what every key begins with; in a cluster there is a hash tag in it, and all of them are on one node. The families:
--
--   lock, readers                      sorted sets, one each per key: lock ids of exclusive and of shared leases by their ends
--   queue                              a sorted set per key: the places of who waits for it, by arrival
--   waiting_writers, waiting_readers   sorted sets per key: the same places by their ends
--   fence                              a counter per key. NEVER delete one: a fence that is used twice protects nothing
--   id                                 a hash per lock id: what it stands for, a lease or a place
--
-- A lease, exclusive or shared, is live while its end is less than a second ago; a place until its end. Everything but the
-- counters expires by itself when it is of no use any more, a lease together with its id.
--
-- Numbers are doubles, exact to 2^53, and so are scores. Redis writes those that are handed to a command with 17 digits;
-- tostring would write 14.

local TOLERANCE = 1000
local LEASES = { EXCLUSIVE = 'lock', SHARED = 'readers' }
local LAST_FENCE = 900000000000000

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function key(family, name)
    return KEYS[1] .. family .. ':' .. name
end

local function text(number)
    return string.format('%.0f', number)
end

-- The last end in the set; nil if it is empty.
local function last_end(set)
    return tonumber(redis.call('ZREVRANGE', set, 0, 0, 'WITHSCORES')[2])
end

-- The lease with this lock id: its set, end, name and mode; nil if there is none. Only the set says who has a lease: an id may have
-- outlived it.
local function lease_of(lock_id)
    local id = redis.call('HMGET', key('id', lock_id), 'name', 'mode')
    local name, mode = id[1], id[2]
    if not mode then
        return nil
    end
    local set = key(LEASES[mode], name)
    local ends = redis.call('ZSCORE', set, lock_id)
    if ends then
        return set, tonumber(ends), name, mode
    end
end

-- Has a lease live until then. An exclusive one is alone in its set.
local function keep_lease(set, mode, lock_id, ends)
    local expires = text(ends + TOLERANCE)
    -- First what Redis allows with its memory full: after that it allows the rest of a script as well, and who holds a lock can
    -- keep it.
    redis.call('PEXPIREAT', key('id', lock_id), expires)
    redis.call('ZADD', set, ends, lock_id)
    redis.call('PEXPIREAT', set, mode == 'SHARED' and last_end(set) + TOLERANCE or expires)
end

-- Whether the counter is not at its end yet. Asked before anything is written.
local function has_fences(name)
    return (tonumber(redis.call('GET', key('fence', name)) or 0) or 0) < LAST_FENCE
end

-- The next fence of the key; nil when the counter is at its end.
local function next_fence(name)
    return has_fences(name) and redis.call('INCR', key('fence', name)) or nil
end

-- Writes a lease that begins now, and answers its end.
local function write_lease(name, mode, lock_id, fence, ttl, user_key, owner)
    local ends = now + ttl
    redis.call(
        'HSET', key('id', lock_id), 'name', name, 'mode', mode, 'acquired_at_ms', now, 'fence', string.format('%015.0f', fence),
        'user_key', user_key, 'owner', owner)
    keep_lease(key(LEASES[mode], name), mode, lock_id, ends)
    return ends
end
