-- Ends an exclusive lease that has not lapsed and for which nobody waits. Most leases end like this. The keys of the
-- request are behind KEYS[k], its arguments behind ARGV[a].

local lease = redis.call('GET', KEYS[k + 1])
-- PTTL compares the end of the tolerance with the clock as TIME does, and costs less. It is negative if the key has lost
-- its expiry.
if lease and string.sub(lease, 1, 24) == '-' .. ARGV[a + 2] .. ' ' and redis.call('PTTL', KEYS[k + 1]) > 0 then
    redis.call('DEL', KEYS[k + 1], KEYS[k + 8])
    return 'released'
end
