-- The renewal of queue entries, and the time of the next look. Needs queue.lua.

-- The first expiry in the set after this time; infinite if there is none.
local function first_expiry(set, after)
    local first = redis.call('ZRANGEBYSCORE', set, '(' .. text(after), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
    return tonumber(first) or math.huge
end

-- When the first live lease in the set stops keeping the key from others; infinite if there is none.
local function first_lapse(set)
    return first_expiry(set, now - TOLERANCE) + TOLERANCE
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
    local last = math.max(last_expiry(writers), last_expiry(readers))
    redis.call('PEXPIREAT', writers, last)
    redis.call('PEXPIREAT', readers, last)
    redis.call('PEXPIREAT', key('queue', name), last)
end
