-- Trace contexts of other tracers than W3C's, which is the only one that Envoy's own tracer reads and writes.
-- Outbound, a request that names its trace only in a header of Jaeger, B3 or Datadog gets a `traceparent` that says the
-- same, so that the callee's span joins that trace. Inbound, those headers name the mesh's span as the parent, as
-- `traceparent` then does: services that merely copy headers become a chain, not a heap of siblings.
-- INBOUND is a constant written above this text by context.py.

local match = string.match

local function padded(id, width)
  if id and #id <= width and match(id, "^%x+$") and match(id, "[^0]") then
    return string.rep("0", width - #id) .. id:lower()
  end
end

-- Datadog writes its 64 bits in decimal; LuaJIT has such integers, and writes them with their suffix.
local function hex(decimal)
  if not decimal or #decimal > 20 or not match(decimal, "^%d+$") then return nil end
  local number = 0ULL
  for digit in decimal:gmatch(".") do number = number * 10 + tonumber(digit) end
  return bit.tohex(number)
end

local function decimal(id)
  local number = 0ULL
  for digit in id:gmatch(".") do number = number * 16 + tonumber(digit, 16) end
  return match(tostring(number), "^%d+")
end

-- Of each tracer: the header that names the trace, how trace and parent are read from it, how the parent is replaced.
local TRACERS = {
  {
    "uber-trace-id",
    function(_, value)
      return match(value:gsub("%%3[Aa]", ":"), "^(%x+):(%x+):")
    end,
    function(headers, value, span)
      local trace, flags = match(value:gsub("%%3[Aa]", ":"), "^(%x+):%x+:%x*:(%x+)$")
      if trace then headers:replace("uber-trace-id", trace .. ":" .. span .. ":0:" .. flags) end
    end,
  },
  {
    "b3",
    function(_, value) return match(value, "^(%x+)-(%x+)") end,
    function(headers, value, span)
      local trace, sampled = match(value, "^(%x+)-%x+(-?[01d]?)")
      if trace then headers:replace("b3", trace .. "-" .. span .. sampled) end
    end,
  },
  {
    "x-b3-traceid",
    function(headers, value) return value, headers:get("x-b3-spanid") end,
    function(headers, _, span)
      headers:replace("x-b3-spanid", span)
      headers:remove("x-b3-parentspanid")
    end,
  },
  {
    "x-datadog-trace-id",
    function(headers, value)
      local low = hex(value)
      local high = match(headers:get("x-datadog-tags") or "", "_dd%.p%.tid=(%x+)")
      return low and (high or "") .. low, hex(headers:get("x-datadog-parent-id") or "")
    end,
    function(headers, _, span) headers:replace("x-datadog-parent-id", decimal(span)) end,
  },
}

local function name_trace(headers)
  for _, tracer in ipairs(TRACERS) do
    local name, read = tracer[1], tracer[2]
    local value = headers:get(name)
    if value then
      local trace, span = read(headers, value)
      trace, span = padded(trace, 32), padded(span, 16)
      if trace and span then
        headers:replace("traceparent", "00-" .. trace .. "-" .. span .. "-01")
        headers:replace("x-cutset-context", name)
        return
      end
    end
  end
end

local function take_part(handle, headers)
  local context = headers:get("x-cutset-context")
  if context then handle:streamInfo():dynamicMetadata():set("cutset", "context", context) end
  local own_trace, own_span = headers:get("x-cutset-trace") or "", headers:get("x-cutset-span") or ""
  for _, name in ipairs({ "x-cutset-context", "x-cutset-trace", "x-cutset-span" }) do headers:remove(name) end
  if #own_trace ~= 32 or #own_span ~= 16 then return end -- nothing is traced here
  for _, tracer in ipairs(TRACERS) do
    local name, read, write = tracer[1], tracer[2], tracer[3]
    local value = headers:get(name)
    if value then
      local trace = padded((read(headers, value)), 32)
      -- Tracers of 64 bits keep the last half alone. What names another trace is not ours to change.
      if trace and trace:sub(17) == own_trace:sub(17) then write(headers, value, own_span) end
    end
  end
end

function envoy_on_request(handle)
  local headers = handle:headers()
  if INBOUND then take_part(handle, headers) else name_trace(headers) end
end
