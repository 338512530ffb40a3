-- The plan executor of one inbound listener: finds the plan in the request, decides, and asks Envoy's native fault
-- filter behind it to act; answers it spoils itself, on their way back. Twin of cutset_agent/wire.py; the specification is cutset_agent/WIRE.md.
-- SERVICE, REPLICA, ENVIRONMENT and PUBLIC_KEY (DER, or nil) are constants written above this text by envoy.py. With a
-- public key plans are proven by ECDSA, and there is no secret here. Without one the shared key comes from the process
-- environment only, so that no configuration dump shows it. VERSION is there in sidecars of Istio. Old Lua API only: runs on any Envoy that has Lua.

local band, bor, bxor, bnot = bit.band, bit.bor, bit.bxor, bit.bnot
local rshift, lshift, ror, tobit = bit.rshift, bit.lshift, bit.ror, bit.tobit
local byte, char, sub, find, match, gmatch = string.byte, string.char, string.sub, string.find, string.match, string.gmatch

local KEY = os.getenv("CUTSET_KEY") or ""
local MIN_KEY_BYTES = 32
local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
local MAX_VALUE_CHARACTERS = 256 -- longer ones are not ours: not worth a signature check
local MAX_TRIED = 64             -- values and traces tried per request: twice the parts that 8 KiB of baggage can hold
local MAX_REFUSED = 5            -- wrong signatures per request: so many headers name a trace, for the first part
local MAX_REMEMBERED = 1000      -- entries per memo and worker: a megabyte at most
local MAX_LIFE = 120 * 1000      -- milliseconds: who once could sign must not keep plans for later
local SCHEME = PUBLIC_KEY and "e" or "h"

-- SHA-256 (FIPS 180-4) and HMAC (RFC 2104): Envoy gives Lua no digest.
local ROUND = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}
local START = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 }
local words = {}

local function big_endian(number)
  return char(band(rshift(number, 24), 255), band(rshift(number, 16), 255), band(rshift(number, 8), 255), band(number, 255))
end

-- `state` after the whole blocks of `text`.
local function compressed(state, text)
  for offset = 0, #text - 64, 64 do
    for i = 1, 16 do
      local b1, b2, b3, b4 = byte(text, offset + i * 4 - 3, offset + i * 4)
      words[i] = bor(lshift(b1, 24), lshift(b2, 16), lshift(b3, 8), b4)
    end
    for i = 17, 64 do
      local x, y = words[i - 15], words[i - 2]
      words[i] = tobit(words[i - 16] + bxor(ror(x, 7), ror(x, 18), rshift(x, 3))
        + words[i - 7] + bxor(ror(y, 17), ror(y, 19), rshift(y, 10)))
    end
    local a, b, c, d, e, f, g, h = unpack(state)
    for i = 1, 64 do
      local t1 = tobit(h + bxor(ror(e, 6), ror(e, 11), ror(e, 25)) + bxor(band(e, f), band(bnot(e), g))
        + ROUND[i] + words[i])
      local t2 = tobit(bxor(ror(a, 2), ror(a, 13), ror(a, 22)) + bxor(band(a, b), band(a, c), band(b, c)))
      h, g, f, e, d, c, b, a = g, f, e, tobit(d + t1), c, b, a, tobit(t1 + t2)
    end
    local mixed, sums = { a, b, c, d, e, f, g, h }, {}
    for i = 1, 8 do sums[i] = tobit(state[i] + mixed[i]) end
    state = sums
  end
  return state
end

-- The words of the digest of what led to `state`, `before` bytes of whole blocks, and `text`.
local function finished(state, before, text)
  local length = before + #text
  return compressed(state, text .. "\128" .. string.rep("\0", (55 - length) % 64) .. "\0\0\0\0" .. big_endian(length * 8))
end

local function bytes_of(state)
  local bytes = {}
  for i = 1, 8 do bytes[i] = big_endian(state[i]) end
  return table.concat(bytes)
end

local function xored(text, value)
  return (text:gsub(".", function(c) return char(bxor(byte(c), value)) end))
end

-- What both hashes of HMAC begin with is the same for every plan: done once.
local padded_key = #KEY > 64 and bytes_of(finished(START, 0, KEY)) or KEY
padded_key = padded_key .. string.rep("\0", 64 - #padded_key)
local INNER, OUTER = compressed(START, xored(padded_key, 0x36)), compressed(START, xored(padded_key, 0x5c))

local function digit(number)
  local index = band(number, 63) + 1
  return sub(ALPHABET, index, index)
end

local function digits(number, width)
  local text = ""
  for place = width - 1, 0, -1 do
    local index = math.floor(number / 64 ^ place) % 64 + 1
    text = text .. sub(ALPHABET, index, index)
  end
  return text
end

local function number_of(text)
  local number = 0
  for i = 1, #text do number = number * 64 + find(ALPHABET, sub(text, i, i), 1, true) - 1 end
  return number
end

local function mac(text)
  local a, b, c = unpack(finished(OUTER, 64, bytes_of(finished(INNER, 64, text))))
  return digit(rshift(a, 26)) .. digit(rshift(a, 20)) .. digit(rshift(a, 14)) .. digit(rshift(a, 8))
    .. digit(rshift(a, 2)) .. digit(bor(lshift(a, 4), rshift(b, 28))) .. digit(rshift(b, 22)) .. digit(rshift(b, 16))
    .. digit(rshift(b, 10)) .. digit(rshift(b, 4)) .. digit(bor(lshift(b, 2), rshift(c, 30))) .. digit(rshift(c, 24))
    .. digit(rshift(c, 18)) .. digit(rshift(c, 12)) .. digit(rshift(c, 6)) .. digit(c)
end

-- An integer of ASN.1: no leading zeros but the one that keeps it positive.
local function der_integer(bytes)
  bytes = match(bytes, "^%z*(.*)$")
  if bytes == "" or byte(bytes) > 127 then bytes = "\0" .. bytes end
  return "\2" .. char(#bytes) .. bytes
end

-- The bytes that base64url stands for.
local function raw_bytes(text)
  local bytes, padded = {}, text .. string.rep("A", -#text % 4)
  for i = 1, #padded, 4 do bytes[#bytes + 1] = sub(big_endian(number_of(sub(padded, i, i + 3))), 2) end
  return sub(table.concat(bytes), 1, math.floor(#text * 3 / 4))
end

-- 86 digits, r and s of 32 bytes each, as the DER that Envoy wants; nil if they are not written in the only way.
local function der_signature(proof)
  if #proof ~= 86 or not find(proof, "^[%w_-]*[AQgw]$") then return nil end
  local raw = raw_bytes(proof)
  local integers = der_integer(sub(raw, 1, 32)) .. der_integer(sub(raw, 33, 64))
  return "\48" .. char(#integers) .. integers
end

-- SubjectPublicKeyInfo of an uncompressed point of P-256, and no other form: what is before x and y.
local PUBLIC_HEAD = "\48\89\48\19\6\7\42\134\72\206\61\2\1\6\8\42\134\72\206\61\3\1\7\3\66\0\4"
local HAS_FORM = PUBLIC_KEY and #PUBLIC_KEY == #PUBLIC_HEAD + 64 and sub(PUBLIC_KEY, 1, #PUBLIC_HEAD) == PUBLIC_HEAD

local function is_signed(handle, text, proof)
  if SCHEME == "h" then
    -- Equal strings are one object in Lua, so the comparison takes the same time wherever they differ.
    return #KEY >= MIN_KEY_BYTES and mac(text) == proof
  end
  local signature = der_signature(proof)
  if not signature or not HAS_FORM then return false end
  -- An object of Envoy's lives as long as its request. What is no point of the curve is an error.
  local is_read, is_valid = pcall(function()
    local key = handle:importPublicKey(PUBLIC_KEY, #PUBLIC_KEY)
    return (handle:verifySignature("sha256", key:get(), signature, #signature, text, #text))
  end)
  return is_read and is_valid == true
end

-- FNV-1a, folded to 24 bits. 16777619 = 2^24 + 403: split so that the product stays exact in a double.
local function target_id(salt, target)
  local text, hash = salt .. "|" .. target, 2166136261
  for i = 1, #text do
    hash = bxor(hash, byte(text, i)) % 4294967296
    hash = ((hash % 256) * 16777216 + hash * 403) % 4294967296
  end
  return digits(bxor(rshift(hash, 24), band(hash, 0xFFFFFF)), 4)
end

local function star(segment)
  if find(segment, "^%d+$") or (#segment >= 8 and find(segment, "^[%x-]+$"))
    or (#segment >= 6 and find(segment, "^%w+$") and find(segment, "%d")) then
    return "*"
  end
end

local function normalise_api(method, path, grpc)
  path = match(path, "^[^?]*")
  if grpc then return match(path, "[^/]*$") end
  return method .. " " .. path:gsub("[^/]+", star)
end

-- A memo that forgets everything when full: bounded, and cheaper than keeping an order.
local function remembering(compute)
  local memo, count = {}, 0
  return function(key, ...)
    local known = memo[key]
    if known == nil then
      if count >= MAX_REMEMBERED then memo, count = {}, 0 end
      known = compute(key, ...)
      memo[key], count = known, count + 1
    end
    return known
  end
end

local NAMES = { A = "abort(%s)", G = "grpc(%s)", D = "delay(%sms)" }
local SPOILT = { "empty", "truncated", "garbled" } -- by the number of kind B

local function part_in(expiry, salt, groups)
  local part = { expires = number_of(expiry), salt = salt, answers = {}, delays = {} }
  for kind, number, percent, attempts, occurrence, body, ids in
    gmatch(groups, "~([AGDBL])(%d+)p?(%d*)n?(%d*)o?(%d*)t?([%w_-]*)%.([%w_-]+)") do
    local name = kind == "B" and SPOILT[tonumber(number)] or NAMES[kind] and string.format(NAMES[kind], number)
    if name and occurrence == "" then -- the others are for agents: a sidecar keeps no count of a request's calls
      local fault = {
        kind = kind, value = number, percent = percent ~= "" and percent or "100",
        attempts = tonumber(attempts) or math.huge, name = name, body = body ~= "" and raw_bytes(body) or nil,
      }
      local family = kind == "D" and part.delays or part.answers
      for id in gmatch(ids, "....") do family[id] = fault end
    end
  end
  return part
end

local DIGIT = "[%w_-]"
local BODY = "^2" .. SCHEME .. "%.(" .. string.rep(DIGIT, 7) .. ")(" .. DIGIT .. ")(.*)$"

-- false for anything that is not a plan signed by our key, for our environment and this trace.
local function verified(_, value, trace, handle)
  local body, proof = match(value, "^(.*)%.([^.]*)$")
  if not body then return false end
  local expiry, salt, groups = match(body, BODY)
  if not expiry or not is_signed(handle, "cutset2|" .. ENVIRONMENT .. "|" .. trace .. "|" .. body, proof) then
    return false
  end
  return part_in(expiry, salt, groups)
end

local part_of = remembering(verified)

-- From the most particular to the most general: the first that a plan names decides.
local ids_of = remembering(function(_, salt, api)
  return {
    target_id(salt, SERVICE .. "|" .. api .. "|" .. REPLICA), target_id(salt, SERVICE .. "|" .. api),
    target_id(salt, SERVICE .. "||" .. REPLICA), target_id(salt, SERVICE),
  }
end)

-- The last 64 bits of the trace ids that the request names, as 16 digits: all that B3 and Datadog may hand on.
local function short_id(digits_of_id)
  local id = string.lower(sub(string.rep("0", 15) .. digits_of_id, -16))
  return find(id, "[^0]") and id or nil
end

local function from_decimal(text)
  local limbs = { 0, 0, 0, 0 } -- 16 bits each: a double does not hold 64
  for digit in gmatch(text, "%d") do
    local carry = tonumber(digit)
    for i = 4, 1, -1 do
      local sum = limbs[i] * 10 + carry
      limbs[i], carry = sum % 65536, math.floor(sum / 65536)
    end
    if carry > 0 then return "" end
  end
  return string.format("%04x%04x%04x%04x", unpack(limbs))
end

local function up_to_32(id) return #id <= 32 and id or "" end

local TRACE_HEADERS = {
  { "traceparent", "^%s*%x%x%-(%x+)%-", function(id) return #id == 32 and id or "" end },
  { "uber-trace-id", "^%s*(%x+):", up_to_32 },
  { "b3", "^%s*(%x+)%-", function(id) return (#id == 16 or #id == 32) and id or "" end },
  { "x-b3-traceid", "^%s*(%x+)%s*$", up_to_32 },
  { "x-datadog-trace-id", "^%s*(%d+)%s*$", function(id) return #id <= 20 and from_decimal(id) or "" end },
}

local function traces_in(headers)
  local ids = {}
  for _, rule in ipairs(TRACE_HEADERS) do
    local name, pattern, read = unpack(rule)
    local value = headers:get(name) -- of several lines, with commas between them
    local id = value and match(match(value:gsub("%%3[Aa]", ":"), "^[^,]*"), pattern)
    id = id and short_id(read(id))
    if id and not ids[id] then ids[#ids + 1], ids[id] = id, true end
  end
  return ids
end

local function is_enough(found) return found.tried >= MAX_TRIED or found.refused >= MAX_REFUSED end

local function collect_value(found, value)
  local expiry = #value <= MAX_VALUE_CHARACTERS and match(value, BODY)
  local expires = expiry and number_of(expiry) or 0
  if #found.traces == 0 or expires < found.now or expires > found.now + MAX_LIFE then
    found.tried = found.tried + math.max(1, #found.traces)
    return
  end
  for i, trace in ipairs(found.traces) do
    if is_enough(found) then return end
    found.tried = found.tried + 1
    local part = part_of(value .. "@" .. trace, value, trace, found.handle)
    if part then
      found[#found + 1] = part
      found.traces[1], found.traces[i] = found.traces[i], found.traces[1] -- the other parts are of the same trace
      return
    end
    found.refused = found.refused + 1
  end
end

-- Java's encoders write ~ as %7E.
local function plain(text)
  return (text:gsub("%%7[Ee]", "~"))
end

local function collect_members(found, headers, name, prefix)
  local member_pattern = "^%s*" .. prefix .. "cutset%d*%s*=%s*([%w._~%%-]+)%s*"
  for i = 0, headers:getNumValues(name) - 1 do
    for member in gmatch(headers:getAtIndex(name, i), "[^,]+") do
      if is_enough(found) then return end
      -- The whole member, but for the properties that baggage may have.
      local value = match(member, member_pattern .. "$") or match(member, member_pattern .. ";")
      if value then collect_value(found, plain(value)) end
    end
  end
end

-- `carriers` says which of them held a valid part: what services hand on shows by it.
local function parts_in(handle, headers)
  local found = { tried = 0, refused = 0, traces = traces_in(headers), now = handle:timestamp(), handle = handle }
  local carriers = {}
  local function note(carrier, before)
    if #found > before then carriers[#carriers + 1] = carrier end
    return #found
  end
  collect_members(found, headers, "tracestate", "")
  local count = note("tracestate", 0)
  collect_members(found, headers, "baggage", "")
  count = note("baggage", count)
  collect_members(found, headers, "x-datadog-tags", "_dd%.p%.")
  count = note("datadog", count)
  local name, number = "uberctx-cutset", 1
  local value = headers:get(name)
  while value and not is_enough(found) do
    collect_value(found, plain(value))
    number = number + 1
    value = headers:get(name .. number)
  end
  note("jaeger", count)
  found.carriers = table.concat(carriers, ",")
  return found
end

local function decide(parts, api, family, attempt)
  for level = 1, 4 do
    for _, part in ipairs(parts) do
      local fault = part[family][ids_of(part.salt .. api, part.salt, api)[level]]
      if fault then return attempt <= fault.attempts and fault or nil end
    end
  end
end

local HELPERS = {
  "x-envoy-fault-abort-request", "x-envoy-fault-abort-grpc-request",
  "x-envoy-fault-abort-request-percentage", "x-envoy-fault-delay-request", "x-envoy-fault-delay-request-percentage",
}
local REQUEST_HEADER = {
  A = "x-envoy-fault-abort-request", G = "x-envoy-fault-abort-grpc-request", D = "x-envoy-fault-delay-request",
}
local PERCENTAGE_HEADER = {
  A = "x-envoy-fault-abort-request-percentage", G = "x-envoy-fault-abort-request-percentage",
  D = "x-envoy-fault-delay-request-percentage",
}

-- google.rpc.Code's HTTP mapping, for a gRPC status asked of an HTTP call: Envoy would answer 200. Others: 500.
local HTTP_STATUS = {
  ["1"] = "499", ["3"] = "400", ["4"] = "504", ["5"] = "404", ["6"] = "409", ["7"] = "403", ["8"] = "429",
  ["9"] = "400", ["10"] = "409", ["11"] = "400", ["12"] = "501", ["14"] = "503", ["16"] = "401",
}

-- Of the answers that this filter spoils itself, chance decides here. Each listener has another one.
math.randomseed(os.time() + number_of(target_id("A", SERVICE .. REPLICA)))

local function ask(headers, metadata, fault, grpc)
  local kind, value = fault.kind, fault.value
  if kind == "B" then
    local hits = math.random(100) <= tonumber(fault.percent)
    -- What HEAD is answered has no body, whatever its headers say.
    if hits then metadata:set("cutset", "spoil", headers:get(":method") == "HEAD" and "nothing" or fault.name) end
    return fault.name
  end
  -- Two names, so that the reply's type fits: see filters.py.
  if fault.body then metadata:set("cutset", find(fault.body, "^[%[{]") and "json" or "text", fault.body) end
  headers:replace("x-cutset-gate", "1")
  if kind == "G" and not grpc then kind, value = "A", HTTP_STATUS[value] or "500" end
  headers:replace(REQUEST_HEADER[kind], value)
  headers:replace(PERCENTAGE_HEADER[kind], fault.percent)
  return fault.name
end

-- What `cutset install` asks of each pod: does its sidecar obey, and which version of this? The service sees nothing of it.
local probe_id = remembering(function(salt) return target_id(salt, "cutset.probe") end)

local function is_probe(headers, parts)
  if not VERSION or headers:get(":path") ~= "/cutset-probe" then return false end
  for _, part in ipairs(parts) do
    if part.answers[probe_id(part.salt)] then return true end
  end
  return false
end

function envoy_on_request(handle)
  local headers = handle:headers()
  headers:remove("x-cutset-gate") -- nobody else may ask
  local parts = parts_in(handle, headers)
  local metadata = handle:streamInfo():dynamicMetadata()
  if #parts == 0 then
    if parts.tried > 0 then metadata:set("cutset", "refused", "1") end
    return
  end
  if is_probe(headers, parts) then
    handle:respond({ [":status"] = "204", ["x-cutset-probe"] = SERVICE .. "/" .. REPLICA .. "/" .. VERSION })
    return
  end
  local grpc = find(headers:get("content-type") or "", "^application/grpc") ~= nil
  local api = normalise_api(headers:get(":method"), headers:get(":path"), grpc)
  metadata:set("cutset", "api", api)
  metadata:set("cutset", "carriers", parts.carriers)
  -- Who calls past a sidecar sends no such header; then `get` returns no value at all, which tonumber does not take.
  local attempt = tonumber(headers:get("x-envoy-attempt-count") or 1) or 1
  local names = {}
  for _, name in ipairs(HELPERS) do headers:remove(name) end
  local delay = decide(parts, api, "delays", attempt)
  if delay then names[1] = ask(headers, metadata, delay, grpc) end
  local answer = decide(parts, api, "answers", attempt)
  if answer then names[#names + 1] = ask(headers, metadata, answer, grpc) end
  if #names > 0 then metadata:set("cutset", "fault", table.concat(names, "+")) end
end

-- Every byte inverted: no text is left, no number of a frame or an archive is what it was, and the length is the same.
local INVERTED = {}
for value = 0, 255 do INVERTED[char(value)] = char(255 - value) end

local function without_body(headers)
  local status = headers:get(":status")
  return status == "204" or status == "304" or headers:get("content-length") == "0"
end

-- What becomes of one piece of an answer, of which so many bytes are still to be kept; and how many then.
local function spoilt(how, bytes, left)
  if how == "garbled" then return (bytes:gsub(".", INVERTED)), left end
  left = left or math.floor(#bytes / 2)
  return sub(bytes, 1, left), math.max(0, left - #bytes)
end

-- Piece by piece, as they come: nothing is held back, so that streams without end can be spoilt too. Of an answer that
-- does not tell its length beforehand, half of the first piece is what is kept. Evidence is said once it has happened;
-- of an answer without a body, that there was nothing to spoil.
function envoy_on_response(handle)
  local how = (handle:streamInfo():dynamicMetadata():get("cutset") or {}).spoil
  if not how then return end
  local headers, said = handle:headers(), nil
  local function say(what)
    if not said then handle:streamInfo():dynamicMetadata():set("cutset", "spoilt", what) end
    said = what
  end
  if how == "nothing" or without_body(headers) then return say("nothing") end
  local length = tonumber(headers:get("content-length") or nil)
  local left = how == "empty" and 0 or length and math.floor(length / 2)
  if length and how ~= "garbled" then headers:replace("content-length", tostring(left)) end
  for chunk in handle:bodyChunks() do
    local before = chunk:getBytes(0, chunk:length())
    local after
    after, left = spoilt(how, before, left)
    if after ~= before then
      chunk:setBytes(after)
      say(how)
    end
  end
  say("nothing")
end
