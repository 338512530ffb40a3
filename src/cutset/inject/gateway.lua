-- Where requests come in from outside, and experiments do, too: drops every plan but those that the environment's key
-- signed for the request's own trace; with STRIP_ALL those as well. filter.lua is above: what is written as a plan is
-- judged as a sidecar does it, within the same limits. Members and headers that only mention us are dropped; all others
-- stay. Several environments may have a filter each in one gateway, in any order, and no plan says whose it is: the
-- first to run takes all of them out and puts them aside, and each puts back what it accepts.

local MAX_BYTES = 8192 -- of a list that mentions us: what W3C asks everybody to hand on; more is dropped as a whole
local MAX_DEPTH = 2    -- of escapes within escapes: more than any reader undoes
local METADATA = "cutset.gateway"
local HELD_TRACESTATE = "x-cutset-tracestate" -- see gateway.py
local ENTRY = "x-cutset-entry" -- goes with a plan of ours
local LISTS = { "tracestate", "baggage", "x-datadog-tags" }
local PREFIXES = { tracestate = "", baggage = "", ["x-datadog-tags"] = "_dd%.p%." }
local MEMBER = "cutset%d*)%s*=%s*([%w._~%%-]+)%s*" -- as in collect_members

local function character(code) return char(tonumber(code, 16)) end

-- Whether our word is in the text, as it is or unescaped; a word of others that contains it is none.
local function mentions(text)
  for _ = 0, MAX_DEPTH do
    text = string.lower(text)
    -- Patterns are slow: most texts have neither.
    if find(text, "cutset", 1, true) and find(text, "%f[%a]cutset%f[%A]") then return true end
    if not find(text, "%", 1, true) then return false end
    text = text:gsub("%%u00(%x%x)", character):gsub("%%(%x%x)", character)
  end
  return false
end

local function list_in(headers, name)
  local lines = {}
  for i = 0, headers:getNumValues(name) - 1 do lines[i + 1] = headers:getAtIndex(name, i) end
  return table.concat(lines, ",")
end

local function write(headers, name, text)
  headers:remove(name)
  if text ~= "" then headers:add(name, text) end
  if name == "tracestate" then write(headers, HELD_TRACESTATE, text) end
end

local function joined(first, second)
  return first ~= "" and second ~= "" and first .. "," .. second or first .. second
end

local function put_aside(held, carrier, name, value)
  held.any = true
  if #held < MAX_TRIED then held[#held + 1] = carrier .. " " .. name .. " " .. value end
end

-- A tracestate that may mention us was moved before the tracer could read it.
local function tracestate_in(headers)
  local list = list_in(headers, "tracestate")
  if list == "," then return list_in(headers, HELD_TRACESTATE), true end
  headers:remove(HELD_TRACESTATE)
  return list, false
end

local function take_from_list(headers, name, held)
  local list, moved
  if name == "tracestate" then list, moved = tracestate_in(headers) else list = list_in(headers, name) end
  held.any = held.any or moved
  if not mentions(list) then
    if moved then write(headers, name, list) end
    return
  end
  local pattern, kept = "^%s*(" .. PREFIXES[name] .. MEMBER, {}
  for member in gmatch(#list <= MAX_BYTES and list or "", "[^,]+") do
    local key, value = match(member, pattern .. "$")
    if not key then key, value = match(member, pattern .. ";") end
    if key then
      put_aside(held, name, key, value)
    elseif not mentions(member) then
      kept[#kept + 1] = member
    end
  end
  write(headers, name, table.concat(kept, ","))
end

-- Jaeger's baggage has a header for each member, of whose names these are the first letters.
local BAGGAGE = { uberctx = true, ["ot-bagg"] = true, ["ot_bagg"] = true, ["jaeger-"] = true, ["jaeger_"] = true }

local function take_from_names(headers, held)
  local names = {}
  for name, value in pairs(headers) do
    if name ~= HELD_TRACESTATE and (mentions(name) or BAGGAGE[sub(name, 1, 7)] and mentions(value)) then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local value = headers:get(name)
    if value and (name == ENTRY or find(name, "^uberctx%-cutset%d*$")) and find(value, "^[%w._~%%-]+$") then
      put_aside(held, "jaeger", name, value)
    end
    headers:remove(name)
  end
end

local function take_out(headers)
  local held = {}
  for _, name in ipairs(LISTS) do take_from_list(headers, name, held) end
  take_from_names(headers, held)
  return held
end

local function put_back(headers, carrier, name, value)
  if carrier == "jaeger" then return headers:replace(name, value) end
  write(headers, carrier, joined(list_in(headers, carrier), name .. "=" .. value))
end

local function judge(handle, headers, held)
  local found = { tried = 0, refused = 0, traces = traces_in(headers), now = handle:timestamp(), handle = handle }
  local entry
  for _, each in ipairs(held) do
    if is_enough(found) then break end
    local carrier, name, value = match(each, "^(%S+) (%S+) (%S+)$")
    local before = #found
    if name == ENTRY then entry = value else collect_value(found, plain(value)) end
    if #found > before then put_back(headers, carrier, name, value) end
  end
  if entry and #found > 0 then headers:replace(ENTRY, entry) end
end

envoy_on_response = nil -- of filter.lua: answers are not for a gateway to spoil

function envoy_on_request(handle)
  local headers = handle:headers()
  local metadata = handle:streamInfo():dynamicMetadata()
  local before = metadata:get(METADATA)
  local held = before and before.held or {}
  if not before then
    local done
    done, held = pcall(take_out, headers)
    if not done then -- not that it could be; but then nothing gets in
      for _, name in ipairs(LISTS) do write(headers, name, "") end
      error(held)
    end
    if not held.any then return end
    held.any = nil
    metadata:set(METADATA, "done", true)
    if #held > 0 then metadata:set(METADATA, "held", held) end
  end
  if not STRIP_ALL then judge(handle, headers, held) end
end
