-- Answers 1 if the key has a live lease, else 0.

-- include leases

local name = ARGV[1]
local last = math.max(last_expiry(key('lock', name)) or 0, last_expiry(key('readers', name)) or 0)
return last > now - TOLERANCE and 1 or 0
