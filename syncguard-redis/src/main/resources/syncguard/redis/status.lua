-- The live leases and queue entries of a lock. Answers the time, the number of its entries, its leases as lookup.lua,
-- and as many of its first entries as the second argument says (mode, label, arrival time, number of permits or 0).

-- include leases
-- include live_leases
-- include queue

local k, limit = lock_keys(1), tonumber(ARGV[2])

local function entries()
    local answers, from = {}, 0
    repeat
        local some = redis.call('ZRANGE', k.queue, from, from + limit - 1)
        for _, lock_id in ipairs(some) do
            local entry = #answers < limit and entry_of(k, lock_id)
            if entry and is_live_entry(entry) then
                table.insert(answers, { entry.mode, entry.label, entry.arrived_at, entry.permits or 0 })
            end
        end
        from = from + #some
    until #some == 0 or #answers == limit
    return answers
end

local function count_entries()
    return redis.call('ZCOUNT', k.waiting, '(' .. text(now), '(' .. text(READERS))
        + redis.call('ZCOUNT', k.waiting, '(' .. text(READERS + now), '+inf')
end

return { now, count_entries(), live_leases(k), entries() }
