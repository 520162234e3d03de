-- include leases
-- include queue

-- Answers 1 if a lease of the key is live, else 0.
local name = ARGV[1]
return (is_live(key('lock', name)) or is_live(key('readers', name))) and 1 or 0
