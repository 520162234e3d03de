-- The live leases of a key, or the one with a lock id: lock id, mode, end, start, fence, key and owner of each.

-- include leases

local name, lock_id = ARGV[1], ARGV[2]
local answers = {}

local function add(lock_id, mode, ends)
    local id = redis.call('HMGET', key('id', lock_id), 'acquired_at_ms', 'fence', 'user_key', 'owner')
    if id[2] then
        table.insert(answers, { lock_id, mode, ends, unpack(id) })
    end
end

if lock_id then
    local set, ends, _, mode = lease_of(lock_id)
    if set and ends > now - TOLERANCE then
        add(lock_id, mode, text(ends))
    end
    return answers
end
for _, mode in ipairs({ 'EXCLUSIVE', 'SHARED' }) do
    local live = redis.call('ZRANGEBYSCORE', key(LEASES[mode], name), '(' .. text(now - TOLERANCE), '+inf', 'WITHSCORES')
    for i = 1, #live, 2 do
        add(live[i], mode, live[i + 1])
    end
end
return answers
