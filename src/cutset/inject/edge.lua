-- The edge of a mesh: lets no plan in that came from outside, however it is written. WIRE.md, "Edges", has the rule.
-- Stricter than any SDK that reads baggage: what may be read as our key somewhere behind goes, at the first doubt.

local find, lower, match, gmatch = string.find, string.lower, string.match, string.gmatch

local WORD = "cutset"
local MAX_BYTES = 8192  -- of a header with members: what W3C asks everybody to hand on; more is not worth our time
local MAX_DEPTH = 4     -- of escapes within escapes; nobody who means well goes deeper
local MAX_DROPPED = 16  -- members of a header, and then it goes as a whole: who floods us must not make us work
local LISTS = { baggage = true, ["x-datadog-tags"] = true }

local function character(code) return string.char(tonumber(code, 16)) end

-- Whether the word can be read in the text, as it is or unescaped any number of times. With `loosely`, also if anything
-- is between its letters: readers differ in what they trim.
local function tells(text, loosely)
  for _ = 0, MAX_DEPTH do
    text = lower(text)
    if find(loosely and text:gsub("%A+", "") or text, WORD, 1, true) then return true end
    if not find(text, "%", 1, true) then return false end
    local plain = text:gsub("%%u00(%x%x)", character):gsub("%%(%x%x)", character)
    if plain == text then return false end
    text = plain
  end
  return true
end

local function is_doubtful(member)
  return tells(member) or tells(match(member, "^[^=]*"), true)
end

-- What may stay of a line, nil if nothing may, and how many members may not.
local function kept_of(line)
  local kept, dropped = {}, 0
  for member in gmatch(line, "[^,]+") do
    if is_doubtful(member) then
      dropped = dropped + 1
      if dropped > MAX_DROPPED then return nil, dropped end
    else
      kept[#kept + 1] = match(member, "^%s*(.-)%s*$")
    end
  end
  return #kept > 0 and table.concat(kept, ",") or nil, dropped
end

local function strip_list(headers, name)
  local lines, bytes = {}, 0
  for i = 0, headers:getNumValues(name) - 1 do
    lines[i + 1] = headers:getAtIndex(name, i)
    bytes = bytes + #lines[i + 1] + 1
  end
  if bytes > MAX_BYTES then return headers:remove(name) end
  local line = table.concat(lines, ",")
  if not tells(line, true) then return end -- nothing in it, in no member
  local kept, dropped = kept_of(line)
  if dropped == 0 then return end
  headers:remove(name)
  if kept then headers:add(name, kept) end
end

-- A header for each key: the names that hold the word are gone before we come.
local function is_baggage(name) return find(name, "^uberctx") or find(name, "^ot[-_]baggage") or find(name, "^baggage[-_]") end

local function strip(headers)
  local lists, doubtful = {}, {}
  for name, value in pairs(headers) do
    if LISTS[name] then
      lists[name] = true
    elseif is_baggage(name) and (#value > MAX_BYTES or tells(value)) then
      doubtful[#doubtful + 1] = name
    end
  end
  for _, name in ipairs(doubtful) do headers:remove(name) end
  for name in pairs(lists) do strip_list(headers, name) end
end

function envoy_on_request(handle)
  local headers = handle:headers()
  if not pcall(strip, headers) then -- not that it could be; but then nothing gets in
    for name in pairs(LISTS) do headers:remove(name) end
  end
end
