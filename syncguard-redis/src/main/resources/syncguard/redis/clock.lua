-- The server's clock. Every script that judges by time reads it once.

local time = redis.call('TIME')

-- How long a lapsed lease is kept from others, in milliseconds.
local TOLERANCE = 1000
