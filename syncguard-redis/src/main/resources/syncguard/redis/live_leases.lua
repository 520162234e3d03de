-- The live leases of a lock: lock id, mode, expiry, start, fence and label of each. Needs leases.lua.

local function live_leases(k)
    local answers = {}
    local written = exclusive_lease(k)
    if written and is_live(written) then
        table.insert(
            answers,
            { written.lock_id, 'EXCLUSIVE', text(written.expires_at), written.start, written.fence, written.label })
    end
    local readers = redis.call('ZRANGEBYSCORE', k.readers, '(' .. text(now - TOLERANCE), '+inf', 'WITHSCORES')
    for i = 1, #readers, 2 do
        local reader = reader_of(k, readers[i], readers[i + 1])
        if reader.fence then
            table.insert(answers, { readers[i], 'SHARED', readers[i + 1], reader.start, reader.fence, reader.label })
        end
    end
    return answers
end
