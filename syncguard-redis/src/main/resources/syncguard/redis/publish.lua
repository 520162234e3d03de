-- Sends a message to a channel as a release does: from the server of the key. Unlike there, a missing right is an
-- error.

return redis.call('PUBLISH', ARGV[1], ARGV[2])
