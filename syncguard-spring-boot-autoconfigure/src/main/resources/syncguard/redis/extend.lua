-- Many leases at once, lock ids and ttls by turns. Answers one by one in the order asked: the new end, 0 for one that had lapsed,
-- -1 for one that is not there.

-- include leases

local answers, shortened = {}, {}

for i = 1, #ARGV, 2 do
    local lock_id = ARGV[i]
    local set, old_end, name, mode = lease_of(lock_id)
    if not set then
        table.insert(answers, -1)
    elseif old_end <= now - TOLERANCE then
        table.insert(answers, 0)
    else
        local ends = now + ARGV[i + 1]
        keep_lease(set, mode, lock_id, ends)
        table.insert(answers, ends)
        if ends < old_end then
            shortened[name] = true
        end
    end
end

if not next(shortened) then
    return answers
end

-- include queue

-- Who waits for a lease that ends earlier now has to know.
for name in pairs(shortened) do
    if redis.call('EXISTS', key('queue', name)) == 1 then
        wake(name, 0, false)
    end
end
return answers
