-- A release that neither release_alone nor hand_over answers. For the arguments and the answers see release.lua. lease
-- is the text of the exclusive lease.
--
-- 1. It deletes the lease with this lock id, if that is live.
-- 2. It grants the key to the first waiters that accept a hand-over, as far as there is room (grants.lua).
-- 3. It wakes the waiters that can be granted the key after that (wake_ups.lua).
-- 4. Without a lease, it deletes the queue entry with this lock id, and wakes those behind it.

-- include leases

local k, lock_id = lock_keys(1), ARGV[2]
local written = lease and exclusive_lease(k, lease) or false
local found, reason = find_lease(k, lock_id, written)
if reason == 'expired' then
    return reason
end
if found then
    delete_lease(k, found)
end

-- include queue

-- Returns the first entry in the queue, which may have lapsed, or nil if there is none; and whether there are others.
local function first_entry()
    local first = redis.call('ZRANGE', k.queue, '0', '1', 'WITHSCORES')
    return first[1] and entry_of(k, first[1], first[2]), first[3] ~= nil
end

-- Returns the first live entry in the same way, and deletes those in front: a dead waiter must neither be handed the
-- key nor keep it from others.
local function first_live_entry()
    local entry, others = first_entry()
    if entry and not is_live_entry(entry) then
        delete_lapsed_entries(k)
        entry, others = first_entry()
    end
    while entry and not is_live_entry(entry) do
        delete_entry(k, entry.lock_id)
        entry, others = first_entry()
    end
    return entry, others
end

local entry, others
if found then
    entry, others = first_live_entry()
    if not entry then
        return 'released'
    end
end

-- Tells whether the entry accepts a hand-over: it has a secret then, which proves that a release has sent the message.
-- Others may be able to publish on the channel.
local function accepts_hand_over()
    return entry and not entry.unlimited and entry.secret ~= '-'
end

local answer = { 'released' }
if accepts_hand_over() and not (found.shared and written and is_live(written)) then

-- include grants

    -- A lapsed lease must not be revived beside these.
    if found.shared and written then
        redis.call('DEL', k.lock)
    end
    local count, is_full = 0, false
    while accepts_hand_over() and count < MAX_HAND_OVERS do
        is_full = not make_room(k, entry.permits)
        local fence = not is_full and next_fence(k)
        if not fence then
            break
        end
        delete_entry(k, entry.lock_id)
        local grant = {
            lock_id = entry.lock_id, shared = entry.shared, mark = others and '+' or '-', label = entry.label
        }
        write_grant(k, grant, fence, entry.waiter_ttl)
        if entry.channel == ARGV[3] then
            local last = #answer
            answer[last + 1], answer[last + 2] = entry.waiter, grant.fence
            answer[last + 3], answer[last + 4] = grant.start, text(grant.expires_at)
        else
            redis.pcall(
                'PUBLISH', entry.channel, table.concat(
                    { entry.waiter, entry.secret, text(fence), grant.start, text(grant.expires_at) }, ' '))
        end
        if not entry.shared then
            return answer
        end
        count = count + 1
        entry, others = first_live_entry()
    end
    -- Nobody behind this entry can be granted the key, nor a writer beside readers; nor soon.
    if not entry or count > 0 and not entry.shared
        or is_full and last_score(k.readers, entry.permits) > now - TOLERANCE + poll_of(entry)
    then
        return answer
    end
end

-- include wake_ups

if found then
    wake(k, NOBODY, entry.lock_id)
    return answer
end
local left = leave_queue(k, lock_id)
if not left then
    return 'not_found'
end
wake(k, left)
return 'left'
