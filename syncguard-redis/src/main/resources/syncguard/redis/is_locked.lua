-- Answers 1 if the key has a live lease, else 0.

-- include leases

local k = lock_keys(1)
local written = exclusive_lease(k)
return (written and is_live(written) or last_score(k.readers) > now - TOLERANCE) and 1 or 0
