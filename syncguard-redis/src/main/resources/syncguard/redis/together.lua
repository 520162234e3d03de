-- Acquires keys of one caller in one step, in the order of the requests. ARGV[1] says which: ALL or none, those IN_FRONT
-- of the first that is not free, or NOTHING. Behind it are the arguments of each acquire.lua without a waiter; KEYS has
-- the keys of all.
--
-- Answers the position of the first request that is not granted, and its answer; 0 and an empty text if there is none.
-- Behind them is the answer of each grant.

-- include clock

-- include clock_texts

local known_free = false

local function grant_free(key_offset, arg_offset)
-- include grant_free
end

-- include queue_expiry

local function acquire_in_full(KEYS, ARGV, looks)
-- include acquire_in_full
end

-- So many of these behind an index.
local function part(list, before, count)
    return { unpack(list, before + 1, before + count) }
end

local extent, count = ARGV[1], #KEYS / 8

local function in_full(i, looks)
    return acquire_in_full(part(KEYS, 8 * (i - 1), 8), part(ARGV, 1 + 7 * (i - 1), 7), looks)
end

-- The position and the answer of the first request that cannot be granted, if there is one. It writes nothing.
local function first_refusal()
    local used = {}
    for k = 0, #KEYS - 1, 8 do
        used[#used + 1], used[#used + 2], used[#used + 3] = KEYS[k + 1], KEYS[k + 3], KEYS[k + 4]
    end
    known_free = redis.call('EXISTS', unpack(used)) == 0
    for i = 1, count do
        local k = 8 * (i - 1)
        local counter = redis.call('GET', KEYS[k + 2])
        -- A counter beyond the clock may be at its end.
        if counter and #counter > 14 and counter > '81'
            or not known_free and redis.call('EXISTS', KEYS[k + 1], KEYS[k + 3], KEYS[k + 4]) > 0
        then
            local answer = in_full(i, true)
            if answer ~= 'free' then
                return i, answer
            end
        end
    end
    return 0, ''
end

local refused, refusal = first_refusal()
local answers = { refused, refusal }
local granted = refused == 0 and count or refused - 1
if extent == 'NOTHING' or refusal == 'no_fences' or refused > 0 and extent == 'ALL' then
    granted = 0
end
for i = 1, granted do
    answers[i + 2] = grant_free(8 * (i - 1), 1 + 7 * (i - 1)) or in_full(i, false)
end
return answers
