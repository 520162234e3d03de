-- The live leases of a key ('KEY', name), or the one with a lock id ('LOCK_ID', lock id). Answers for each: lock id,
-- mode, expiry, start, fence, key and owner.

-- include leases

local by, value = ARGV[1], ARGV[2]
local answers = {}

local function add(lock_id, mode, expires_at)
    local id = redis.call('HMGET', key('id', lock_id), 'acquired_at_ms', 'fence', 'user_key', 'owner')
    if id[2] then
        table.insert(answers, { lock_id, mode, expires_at, unpack(id) })
    end
end

if by == 'LOCK_ID' then
    local lease = find_lease(value)
    if lease then
        add(lease.lock_id, lease.mode, text(lease.expires_at))
    end
    return answers
end
for mode, family in pairs(LEASES) do
    local live = redis.call('ZRANGEBYSCORE', key(family, value), '(' .. text(now - TOLERANCE), '+inf', 'WITHSCORES')
    for i = 1, #live, 2 do
        add(live[i], mode, live[i + 1])
    end
end
return answers
