-- The renewal of queue entries, and the time of the next look. Needs queue.lua.

-- The earlier of two times that may be nil.
local function earlier(one, other)
    return one and other and math.min(one, other) or one or other
end

-- The later of two times that may be nil.
local function later(one, other)
    return one and other and math.max(one, other) or one or other
end

-- The first expiry in the set after this time; nil if there is none.
local function first_expiry(set, after)
    return tonumber(redis.call('ZRANGEBYSCORE', set, '(' .. text(after), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2])
end

-- When the first live lease in the set stops keeping the key from others; nil if there is none.
local function first_lapse(set)
    local expires_at = first_expiry(set, now - TOLERANCE)
    return expires_at and expires_at + TOLERANCE
end

-- The live entries in the set, each followed by its expiry.
local function live_entries(set)
    return redis.call('ZRANGEBYSCORE', set, '(' .. text(now), '+inf', 'WITHSCORES')
end

-- Sets the expiry of an entry that is in the queue.
local function renew_entry(name, entry, expires_at)
    local parsed = parse_entry(entry)
    local writers, readers = key(ENTRIES.EXCLUSIVE, name), key(ENTRIES.SHARED, name)
    -- First a command that Redis allows with full memory. It allows the rest of the script then: a waiter can renew.
    redis.call('PEXPIREAT', key('id', parsed.lock_id), expires_at)
    redis.call('ZADD', key(ENTRIES[parsed.mode], name), expires_at, entry)
    -- The sets of a key outlive its last entry. If one set were removed earlier, a dead reader in front of writers
    -- would lose the expiry by which it is found, stay first, and keep those behind it from being woken.
    local last = later(last_expiry(writers), last_expiry(readers))
    redis.call('PEXPIREAT', writers, last)
    redis.call('PEXPIREAT', readers, last)
    redis.call('PEXPIREAT', key('queue', name), last)
end
