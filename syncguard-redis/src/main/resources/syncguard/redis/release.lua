-- Ends the lease with this lock id, and hands the key over or wakes waiters; or deletes the queue entry with this lock
-- id. Answers 'released', 'left', or why there is nothing to end: 'expired' or 'not_found'; or, if the key was handed
-- over to waiters of the caller's process, 'released' with number of the waiter, fence, start and expiry of each.
--
-- The arguments: for how long the counter is kept, lock id, and the channel of the caller's process (empty if it has
-- none).
--
-- Three parts answer, and the first one that can does: release_alone.lua ends most leases, hand_over.lua hands an
-- exclusive lease over to the first waiter, and release_in_full.lua answers all other requests. Read leases.lua first:
-- it has the keys and the words.

-- include release_alone

local released, lease = release_alone(0, 0)
if released then
    return released
end

-- include clock
-- include clock_texts
-- include hand_over

local handed_over = hand_over(0, 0, lease)
if handed_over then
    return handed_over
end

-- include release_in_full
