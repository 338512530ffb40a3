-- The edge of a mesh: lets no plan in that came from outside, however it is written. WIRE.md, "Edges", has the rule.
-- Stricter than any SDK that reads baggage: what may be read as our key somewhere behind goes, at the first doubt.

local find, lower, match, gmatch = string.find, string.lower, string.match, string.gmatch

local WORD = "cutset"
local MAX_BYTES = 8192 -- of a header with members: what W3C asks everybody to hand on; more is not worth our time
local MAX_DEPTH = 4    -- of escapes within escapes; nobody who means well goes deeper
local LISTS = { baggage = true, ["x-datadog-tags"] = true }

local function character(code) return string.char(tonumber(code, 16)) end

local function unescaped(text)
  return (text:gsub("%%u00(%x%x)", character):gsub("%%(%x%x)", character))
end

-- Whether the word can be read in the text, as it is or unescaped any number of times.
local function tells(text)
  for _ = 0, MAX_DEPTH do
    text = lower(text)
    if find(text, WORD, 1, true) then return true end
    if not find(text, "%", 1, true) then return false end
    local plain = unescaped(text)
    if plain == text then return false end
    text = plain
  end
  return true
end

-- Of the key even if anything is between its letters: readers differ in what they trim.
local function key_tells(member)
  local key = lower(match(member, "^[^=]*"))
  for _ = 0, MAX_DEPTH do
    if find(key:gsub("%A", ""), WORD, 1, true) then return true end
    key = lower(unescaped(key))
  end
  return false
end

-- What may stay of a header with members, or nil if that is nothing; and whether all of it may.
local function kept_of(headers, name)
  local kept, bytes, whole = {}, 0, true
  for i = 0, headers:getNumValues(name) - 1 do
    local line = headers:getAtIndex(name, i)
    bytes = bytes + #line
    if bytes > MAX_BYTES then return nil, false end
    for member in gmatch(line, "[^,]+") do
      if tells(member) or key_tells(member) then
        whole = false
      else
        kept[#kept + 1] = match(member, "^%s*(.-)%s*$")
      end
    end
  end
  return #kept > 0 and table.concat(kept, ",") or nil, whole
end

-- A header for each key: the names that hold the word are gone before we come.
local function is_baggage(name) return find(name, "^uberctx") or find(name, "^ot[-_]baggage") or find(name, "^baggage[-_]") end

local function strip(headers)
  local lists, doubtful = {}, {}
  for name, value in pairs(headers) do
    if LISTS[name] then
      lists[name] = true
    elseif is_baggage(name) and tells(value) then
      doubtful[#doubtful + 1] = name
    end
  end
  for _, name in ipairs(doubtful) do headers:remove(name) end
  for name in pairs(lists) do
    local kept, whole = kept_of(headers, name)
    if not whole then
      headers:remove(name)
      if kept then headers:add(name, kept) end
    end
  end
end

function envoy_on_request(handle)
  local headers = handle:headers()
  if not pcall(strip, headers) then -- not that it could be; but then nothing gets in
    for name in pairs(LISTS) do headers:remove(name) end
  end
end
