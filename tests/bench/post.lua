-- wrk: POST to TARGET (/vazifalar); MODE new: a fresh key each; replay: one of
-- 100 keys that were made before; unkeyed: no key; read: GET without a key.
local mode = os.getenv("MODE")
local prefix = os.getenv("PREFIX")
local target = os.getenv("TARGET") or "/vazifalar"
local body = os.getenv("BODY") or '{"matn":"Non olish #uy"}'
local kind = os.getenv("BODY") and "application/x-www-form-urlencoded"
    or "application/json"
local n, id = 0, 0
local threads = 0

function setup(thread)
	thread:set("id", threads)
	threads = threads + 1
end

function request()
	if mode == "read" then
		return wrk.format("GET", "/vazifalar/1")
	end
	n = n + 1
	local key = mode == "new" and prefix .. "-" .. id .. "-" .. n
	    or prefix .. "-" .. (n % 100)
	return wrk.format("POST", target, {
		["Content-Type"] = kind,
		["Idempotency-Key"] = mode ~= "unkeyed" and key or nil,
	}, body)
end

function done(summary, latency, requests)
	local e = summary.errors
	io.write(string.format("RESULT %d %d %d %d\n", summary.requests,
	    summary.duration, e.status + e.connect + e.read + e.write +
	    e.timeout, latency:percentile(99)))
end
