-- The entries of a queue. Needs leases.lua.

local ENTRIES = { EXCLUSIVE = 'waiting_writers', SHARED = 'waiting_readers' }

-- How many members one command gets: Lua cannot pass on many thousands.
local BATCH = 1000

-- Reads the text of an entry: arrival, mode, lock id, number of the waiter, channel of its process.
local function parse_entry(entry)
    local arrival, mode, lock_id, waiter, channel = string.match(entry, '^(%d+):(%u+):([^:]+):(%d+):(.*)$')
    return {
        arrival = tonumber(arrival), mode = mode, shared = mode == 'SHARED', lock_id = lock_id, waiter = waiter,
        channel = channel
    }
end

-- Whether the entry is in the queue and has not lapsed. An id may outlive its entry, and a dead waiter's entry stays in
-- the queue until somebody deletes it.
local function is_live_entry(name, entry)
    local expires_at = tonumber(redis.call('ZSCORE', key(ENTRIES[parse_entry(entry).mode], name), entry))
    return expires_at ~= nil and expires_at > now
end

-- Answers whether the entry was there.
local function delete_entry(name, entry)
    redis.call('ZREM', key('queue', name), entry)
    return redis.call('ZREM', key(ENTRIES[parse_entry(entry).mode], name), entry) == 1
end

-- Deletes the entry with this lock id, without wake-ups. Answers the entry with its name; nil if it was not there.
local function leave_queue(lock_id)
    local id = redis.call('HMGET', key('id', lock_id), 'name', 'entry')
    local name, entry = id[1], id[2]
    if not entry then
        return nil
    end
    redis.call('DEL', key('id', lock_id))
    if not delete_entry(name, entry) then
        return nil
    end
    local left = parse_entry(entry)
    left.name = name
    return left
end

local function delete_lapsed_entries(name)
    for _, family in pairs(ENTRIES) do
        local lapsed = redis.call('ZRANGEBYSCORE', key(family, name), '-inf', now)
        for from = 1, #lapsed, BATCH do
            redis.call('ZREM', key('queue', name), unpack(lapsed, from, math.min(from + BATCH - 1, #lapsed)))
        end
        redis.call('ZREMRANGEBYSCORE', key(family, name), '-inf', now)
    end
end

-- Deletes the leases that have lapsed. A grant never passes them over: when the clock steps back, as in a failover, an
-- extension would revive a lapsed lease beside the new one.
local function delete_lapsed_leases(name)
    redis.call('ZREMRANGEBYSCORE', key('lock', name), '-inf', now - TOLERANCE)
    redis.call('ZREMRANGEBYSCORE', key('readers', name), '-inf', now - TOLERANCE)
end
