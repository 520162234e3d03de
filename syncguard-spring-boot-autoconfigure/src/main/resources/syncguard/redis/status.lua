-- The live leases and queue entries of a lock. Answers the time, the number of its entries, its leases as
-- lookup.lua, and as many of its first entries as the second argument says (mode, owner, arrival).

-- include leases
-- include queue

local name, limit = ARGV[1], tonumber(ARGV[2])

local function leases()
    local answers = {}
    for mode, family in pairs(LEASES) do
        local live = redis.call('ZRANGEBYSCORE', key(family, name), '(' .. text(now - TOLERANCE), '+inf', 'WITHSCORES')
        for i = 1, #live, 2 do
            local id = redis.call('HMGET', key('id', live[i]), 'acquired_at_ms', 'fence', 'user_key', 'owner')
            if id[2] then
                table.insert(answers, { live[i], mode, live[i + 1], unpack(id) })
            end
        end
    end
    return answers
end

local function entries()
    local answers, from = {}, 0
    repeat
        local some = redis.call('ZRANGE', key('queue', name), from, from + limit - 1)
        for _, entry in ipairs(some) do
            if #answers < limit and is_live_entry(name, entry) then
                local parsed = parse_entry(entry)
                local id = redis.call('HMGET', key('id', parsed.lock_id), 'owner', 'arrived_at_ms')
                table.insert(answers, { parsed.mode, id[1] or '', id[2] or '0' })
            end
        end
        from = from + #some
    until #some == 0 or #answers == limit
    return answers
end

local function count_entries()
    local after = '(' .. text(now)
    return redis.call('ZCOUNT', key(ENTRIES.EXCLUSIVE, name), after, '+inf')
        + redis.call('ZCOUNT', key(ENTRIES.SHARED, name), after, '+inf')
end

return { now, count_entries(), leases(), entries() }
