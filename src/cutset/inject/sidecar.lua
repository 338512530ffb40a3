-- Binds context.lua and filter.lua, which are above as `join` and `execute` (inbound only), for a sidecar of Istio. It
-- runs for requests in which a carrier mentions us: see sidecar.py.

function envoy_on_request(handle)
  local headers = handle:headers()
  if not INBOUND then
    if not headers:get("traceparent") then join(handle) end
    return
  end
  if headers:get("x-client-trace-id") == "cutset" then headers:remove("x-client-trace-id") end -- ours: it has done its work
  local metadata = handle:streamInfo():dynamicMetadata()
  metadata:set("cutset", "service", SERVICE)
  metadata:set("cutset", "replica", REPLICA)
  metadata:set("cutset", "attempt", headers:get("x-envoy-attempt-count") or "1")
  join(handle)
  execute(handle)
  local entry = headers:get("x-cutset-entry") or ""
  if #entry == 16 and not string.find(entry, "[^0-9a-f]") and (metadata:get("cutset") or {}).api then
    metadata:set("cutset", "entry", entry)
  end
end
