-- Attempts to acquire several keys in one script, each with its own keys and arguments: see acquire.lua. Needs
-- clock_texts.lua and queue_expiry.lua.

-- include grant_free

local KEYS_OF_ONE, ARGUMENTS_OF_ACQUIRE = 8, 7

local function acquire_in_full(KEYS, ARGV, looks)
-- include acquire_in_full
end

-- Returns so many elements of a list behind an index.
local function part(list, before, count)
    return { unpack(list, before + 1, before + count) }
end

local function attempt_in_full(key_offset, arg_offset, looks)
    return acquire_in_full(
        part(KEYS, key_offset, KEYS_OF_ONE), part(ARGV, arg_offset, ARGUMENTS_OF_ACQUIRE), looks)
end
