-- Acquires keys of one caller in one step, in the order of the requests. ARGV[1] says which: ALL or none, those
-- IN_FRONT of the first that is not free, or NOTHING. Behind it are the arguments of each acquire.lua without a waiter;
-- KEYS has the keys of all.
--
-- Answers the position of the first request that is not granted, and its answer; 0 and an empty text if there is none.
-- Behind them is the answer of each grant.

-- include clock
-- include clock_texts
-- include queue_expiry
-- include attempts

local extent, count = ARGV[1], #KEYS / KEYS_OF_ONE

-- Where the keys and the arguments of a request begin.
local function offsets(i)
    return KEYS_OF_ONE * (i - 1), 1 + ARGUMENTS_OF_ACQUIRE * (i - 1)
end

-- The position and the answer of the first request that cannot be granted, if there is one; and whether all keys have
-- neither lease nor queue. It writes nothing.
local function first_refusal()
    local used = {}
    for k = 0, #KEYS - 1, KEYS_OF_ONE do
        used[#used + 1], used[#used + 2], used[#used + 3] = KEYS[k + 1], KEYS[k + 3], KEYS[k + 4]
    end
    local known_free = redis.call('EXISTS', unpack(used)) == 0
    for i = 1, count do
        local k, arg_offset = offsets(i)
        local counter = redis.call('GET', KEYS[k + 2])
        -- A counter beyond the clock may be at its end.
        if counter and #counter > 14 and counter > '81'
            or not known_free and redis.call('EXISTS', KEYS[k + 1], KEYS[k + 3], KEYS[k + 4]) > 0
        then
            local answer = attempt_in_full(k, arg_offset, true)
            if answer ~= 'free' then
                return i, answer, false
            end
        end
    end
    return 0, '', known_free
end

local refused, refusal, known_free = first_refusal()
local answers = { refused, refusal }
local granted = refused == 0 and count or refused - 1
if extent == 'NOTHING' or refusal == 'no_fences' or refused > 0 and extent == 'ALL' then
    granted = 0
end
for i = 1, granted do
    local key_offset, arg_offset = offsets(i)
    answers[i + 2] = grant_free(key_offset, arg_offset, known_free) or attempt_in_full(key_offset, arg_offset, false)
end
return answers
