-- Requests that differ: {n} in path and body is a running number, {x} the same in 12 hexadecimal digits.
-- BENCH_FROM is the first number; BENCH_BELOW, where it is given, makes each number a random one below it.
local method = os.getenv("BENCH_METHOD")
local path = os.getenv("BENCH_PATH")
local body = os.getenv("BENCH_BODY")
local below = tonumber(os.getenv("BENCH_BELOW"))
local number = tonumber(os.getenv("BENCH_FROM") or "0") - 1

local function filled(text)
    return (text:gsub("{n}", string.format("%d", number)):gsub("{x}", string.format("%012x", number)))
end

function request()
    number = below and math.random(0, below - 1) or number + 1
    return wrk.format(method, filled(path), nil, body and filled(body))
end
