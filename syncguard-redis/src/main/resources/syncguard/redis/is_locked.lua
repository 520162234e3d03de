-- Answers 1 if the key has a live lease, else 0.

-- include leases

local name = ARGV[1]
local last = math.max(last_expiry(key('lock', name)), last_expiry(key('readers', name)))
return last > now - TOLERANCE and 1 or 0
