-- Extends many leases. The arguments are lock ids, each followed by its ttl. Answers each in the order of the request:
-- the new expiry, or 'expired' or 'not_found'.

-- include leases

local answers, shortened = {}, {}

for i = 1, #ARGV, 2 do
    local lease, reason = find_lease(ARGV[i])
    local expires_at = now + ARGV[i + 1]
    if lease then
        extend_lease(lease, expires_at)
    end
    if lease and expires_at < lease.expires_at then
        shortened[lease.name] = true
    end
    table.insert(answers, lease and expires_at or reason)
end

-- Only then: no heartbeat goes through the queue.
if not next(shortened) then
    return answers
end

-- include queue
-- include wake_ups

for name in pairs(shortened) do
    if redis.call('EXISTS', key('queue', name)) == 1 then
        wake(name, WRITER_BEFORE_ALL)
    end
end
return answers
