-- Ends an exclusive lease that has not lapsed and for which nobody waits. Most leases end like this. Returns the
-- answer; to other requests nil, and the text of the exclusive lease. For the offsets see grant_free.lua.
local function release_alone(key_offset, arg_offset)
    local lease = redis.call('GET', KEYS[key_offset + 1])
    -- A lock id has 22 characters. The expiry of the key is the end of the tolerance, so a positive PTTL says that the
    -- lease is live, and costs less than TIME. PTTL is negative if the key has lost its expiry.
    if lease and string.sub(lease, 1, 24) == '-' .. ARGV[arg_offset + 2] .. ' '
        and redis.call('PTTL', KEYS[key_offset + 1]) > 0
    then
        redis.call('DEL', KEYS[key_offset + 1], KEYS[key_offset + 8])
        return 'released'
    end
    return nil, lease
end
