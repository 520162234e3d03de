-- The server's clock. Every script that judges by time reads it once.

local time = redis.call('TIME')
