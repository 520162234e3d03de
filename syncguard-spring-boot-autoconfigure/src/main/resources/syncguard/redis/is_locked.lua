-- Answers 1 if a lease of the key is live, else 0.

-- include leases

local name = ARGV[1]
local last = math.max(last_end(key('lock', name)) or 0, last_end(key('readers', name)) or 0)
return last > now - TOLERANCE and 1 or 0
