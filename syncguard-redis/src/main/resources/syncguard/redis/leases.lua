-- Names, clock and leases. Every script begins with this part.
--
-- Redis runs one script at a time: what a script has read is still true when it writes. Between two scripts anything
-- may happen: another script, an expiry, a lost key, a failover. A script that fails keeps what it has written so far.
--
-- Lua makes each function again in each run. So a script includes the other parts only behind its most frequent answer.
--
-- KEYS[1] is the prefix of every key; in a cluster it contains a hash tag, and all keys are on one node. The families:
--
--   lock, readers                      sorted sets per key: the lock ids of its exclusive and shared leases by expiry
--   queue                              a sorted set per key: its queue entries by arrival
--   waiting_writers, waiting_readers   sorted sets per key: the same queue entries by expiry
--   fence                              the fence counter of a key. NEVER delete it: a fence must not be used twice
--   id                                 a hash per lock id: its lease or its queue entry
--
-- The first argument of every script says for how many milliseconds an idle counter is kept, if fences come from the
-- clock. It is empty if they come from counters, which are kept for ever. The scripts see the other arguments.
--
-- A lease is live until one tolerance after its expiry, a queue entry until its expiry. Redis expires all keys but such
-- counters when they have no further use, a lease together with its id.
--
-- By the clock, a fence is at least a hundred times its milliseconds, or LAST_BY_CLOCK, in the year 2226.
--
-- Numbers and scores are doubles, exact up to 2^53. Redis writes a number that is passed to a command with 17 digits,
-- tostring() with 14.

local RETENTION = tonumber(table.remove(ARGV, 1)) or math.huge

local TOLERANCE = 1000
local FENCES_PER_MILLI = 100
local LAST_BY_CLOCK = 810000000000000
local LEASES = { EXCLUSIVE = 'lock', SHARED = 'readers' }

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local PREFIX = KEYS[1]

local function key(family, name)
    return PREFIX .. family .. ':' .. name
end

local function text(number)
    return string.format('%.0f', number)
end

-- The last expiry in the set; 0 if the set is empty.
local function last_expiry(set)
    return tonumber(redis.call('ZREVRANGE', set, 0, 0, 'WITHSCORES')[2]) or 0
end

-- The live lease with this lock id. If there is none: nil, and 'not_found' or 'expired', the latter with its mode.
local function find_lease(lock_id)
    local id = redis.call('HMGET', key('id', lock_id), 'name', 'mode', 'acquired_at_ms')
    local name, mode = id[1], id[2]
    if not mode then
        return nil, 'not_found'
    end
    -- An id may outlive its lease: Redis expires, evicts or loses keys one by one. Only the set proves the lease.
    local expires_at = tonumber(redis.call('ZSCORE', key(LEASES[mode], name), lock_id))
    if not expires_at then
        return nil, 'not_found'
    end
    -- Redis may not have removed it yet, or keeps it because a longer lease is in the same set.
    if expires_at <= now - TOLERANCE then
        return nil, 'expired', mode
    end
    return { name = name, mode = mode, lock_id = lock_id, acquired_at = tonumber(id[3]), expires_at = expires_at }
end

-- Keeps the counter of a key longer than its leases, the last of which has this expiry. The last fence was drawn at
-- this time or later, and has set an expiry of the counter that is nearly always later.
local function keep_counter(name, last, drawn_at)
    if last + TOLERANCE > drawn_at + RETENTION then
        local counter = key('fence', name)
        local fence = tonumber(redis.call('GET', counter) or 0)
        if fence < LAST_BY_CLOCK then
            redis.call('PEXPIREAT', counter, text(math.max(fence / FENCES_PER_MILLI, last) + RETENTION))
        end
    end
end

-- Sets the expiry of a lease.
local function extend_lease(lease, expires_at)
    local set = key(LEASES[lease.mode], lease.name)
    -- First a command that Redis allows with full memory. It allows the rest of the script then: a holder can extend.
    redis.call('PEXPIREAT', key('id', lease.lock_id), text(expires_at + TOLERANCE))
    redis.call('ZADD', set, expires_at, lease.lock_id)
    -- Readers share a set, which has to outlive the last of them. An exclusive lease is alone in its set.
    local last = lease.mode == 'SHARED' and last_expiry(set) or expires_at
    redis.call('PEXPIREAT', set, last + TOLERANCE)
    keep_counter(lease.name, last, lease.acquired_at)
end
