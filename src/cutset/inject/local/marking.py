"""Live marking at the edge of the local mesh: Envoy asks Cutset about a share of the requests, and goes on without it.

    strip of foreign plans ──▶ cutset.user (whom the user key names, if any) ──▶ cutset.mark (ext_authz) ──▶ entry

Nobody is asked unless the runtime key `cutset.mark` says so, by a route of its own. Where users can be told apart, a
band of their hashes is asked about, by weights of two clusters that are one service: who is in it stays in it while it
grows. Whatever happens to Cutset, the request goes on: it does not listen, it hangs (50 ms, for a few), it talks
nonsense.
"""

from cutset.inject.filters import FILTERS, HTTP_OPTIONS, TYPE, lua_filter, mutation_filter, overwritten
from cutset.inject.marking.matching import USER_HEADER
from cutset.model.expect import split_address
from cutset.model.impact import Matching, UserKey
from cutset.model.mesh import Json

MARK_KEY = "cutset.mark"  # runtime: the fraction of requests that is asked about; with users: all, if anybody is
BAND_PREFIX = (
    "cutset.users"  # runtime: what is before the names of both clusters of the entry, whose weights make the band
)
MARKED = "marked:"  # before the name of the entry: its cluster for the users in the band
MARKER_CLUSTER = "cutset-marker"
MILLION = 1_000_000
ANSWER_SECONDS = 0.05  # what a hanging Cutset costs an asked request; a busy machine needs half of it now and then
MAX_PARALLEL = 64  # more are not marked: nobody queues for a mark
_FILTER, _USER_FILTER = "cutset.mark", "cutset.user"

# What of a request may leave Envoy: what names its trace, what plans are put beside, and what requests are chosen by.
_SHOWN = ("traceparent", "baggage", "uber-trace-id", "b3", "user-agent", "accept-language", "content-type")
_SHOWN_PREFIX = "x-"
# But for what may be a secret, whatever it is called.
_SECRETS = (
    *("auth", "cookie", "credential", "csrf", "jwt", "key", "otp", "passw", "secret", "session", "sign", "token"),
    *("x-forwarded-client-cert", "xsrf"),
)
# What Cutset may change of a request: carriers of plans, and what names the trace. Envoy takes no longer expression.
_CHANGED = "trace(parent|state)|baggage|uber(-trace-id|ctx-cutset[0-9]*)|b3|x-(b3|datadog)-[a-z-]+"
_COPY_COOKIE = """
function envoy_on_request(handle)
  local headers = handle:headers()
  for i = 0, headers:getNumValues("cookie") - 1 do
    for name, value in string.gmatch(headers:getAtIndex("cookie", i), "([^=;%s]+)=([^;]*)") do
      if name == COOKIE then return headers:replace(USER, (string.gsub(value, '"', ""))) end
    end
  end
end
"""


def marking_filters(users: UserKey) -> list[Json]:
    """Behind the strip of foreign plans. Off, but for requests whose route switches them on."""
    filters = [_user_filter(users), _mark_filter()] if _tells_users_apart(users) else [_mark_filter()]
    return [each | {"disabled": True} for each in filters]


def marking_routes(route: Json, entry: str, users: UserKey) -> list[Json]:
    """The route to the entry, after one that asks: to choose by route costs others less than by the filter."""
    match = route["match"]
    assert isinstance(match, dict)
    nobody: Json = {"default_value": {"numerator": 0, "denominator": "MILLION"}, "runtime_key": MARK_KEY}
    asking: Json = {**route, "match": {**match, "runtime_fraction": nobody}}
    if _tells_users_apart(users):
        action = route["route"]
        assert isinstance(action, dict)
        asking["route"] = _in_bands(action, entry, users)
    else:
        asking["typed_per_filter_config"] = _switched_on(_FILTER)
    return [asking, route]


def _in_bands(action: Json, entry: str, users: UserKey) -> Json:
    """To the same service, with the band of users in it that Cutset is asked about: none yet."""
    by: Json = {"cookie": {"name": users.cookie}} if users.cookie else {"header": {"header_name": users.header}}
    marked: Json = {
        "name": MARKED + entry,
        "weight": 0,
        "request_headers_to_remove": [USER_HEADER],
        "typed_per_filter_config": _switched_on(_USER_FILTER, _FILTER),
    }
    bands: Json = {
        "use_hash_policy": True,  # without a user: by chance
        "runtime_key_prefix": BAND_PREFIX,
        "clusters": [marked, {"name": action["cluster"], "weight": MILLION}],
    }
    others = {name: value for name, value in action.items() if name != "cluster"}
    return others | {"hash_policy": [by], "weighted_clusters": bands}


def _switched_on(*filters: str) -> Json:
    return {name: {"@type": TYPE + "config.route.v3.FilterConfig", "config": {}} for name in filters}


def marked_cluster(entry: str, users: UserKey) -> str:
    """The name of the second cluster that the entry needs; empty if it needs none."""
    return MARKED + entry if _tells_users_apart(users) else ""


def marking_runtime(entry: str, cluster: str, users: UserKey) -> Json:
    """As it begins, and so that whoever asks Envoy for its runtime learns how this edge marks."""
    nobody: Json = {MARK_KEY: 0}
    if _tells_users_apart(users):
        nobody |= {f"{BAND_PREFIX}.{MARKED}{entry}": 0, f"{BAND_PREFIX}.{cluster}": MILLION}
    return nobody


def marker_cluster(address: str) -> Json:
    """Where Cutset answers, while it does. A single host is out at once, also of panic: then nobody waits for it."""
    host, port = split_address(address)
    endpoint: Json = {"address": {"socket_address": {"address": host, "port_value": port}}}
    limits = dict.fromkeys(("max_requests", "max_pending_requests"), MAX_PARALLEL)
    return {
        "name": MARKER_CLUSTER,
        "type": "STATIC",
        "connect_timeout": f"{ANSWER_SECONDS}s",
        "typed_extension_protocol_options": {
            HTTP_OPTIONS: {
                "@type": f"type.googleapis.com/{HTTP_OPTIONS}",
                "explicit_http_config": {"http2_protocol_options": {}},
            }
        },
        "circuit_breakers": {"thresholds": [limits]},
        "health_checks": [  # also: is there anything to be marked? Who hangs does not answer this either
            {
                "timeout": "0.2s",
                "interval": "0.5s",
                "no_traffic_interval": "0.5s",
                "unhealthy_threshold": 1,
                "healthy_threshold": 1,
                "grpc_health_check": {},
            }
        ],
        "outlier_detection": {  # before the health check finds out; fewer than five would put out who is merely busy
            "consecutive_gateway_failure": 5,
            "enforcing_consecutive_gateway_failure": 100,
            "consecutive_5xx": 5,
            "interval": "0.5s",
            "base_ejection_time": "2s",
            "max_ejection_time": "10s",
            "max_ejection_percent": 100,
            "enforcing_success_rate": 0,
        },
        # Who was found healthy within the last second would else be asked for up to one more.
        "common_lb_config": {"healthy_panic_threshold": {"value": 0}, "update_merge_window": "0s"},
        "load_assignment": {"cluster_name": MARKER_CLUSTER, "endpoints": [{"lb_endpoints": [{"endpoint": endpoint}]}]},
    }


def not_shown(matching: Matching, user: UserKey, users: UserKey) -> tuple[str, ...]:
    """What of a choice of requests this edge does not tell Cutset, so that none would ever match."""
    headers = [*matching.headers, *([user.header] if user.header else [])]
    cookies = [*matching.cookies, *([user.cookie] if user.cookie else [])]
    hidden = [f"the header `{each}`" for each in headers if each.lower() != users.header.lower() and not _shown(each)]
    hidden += [f"the cookie `{each}`" for each in cookies if each != users.cookie]
    return tuple(dict.fromkeys(hidden))


def _tells_users_apart(users: UserKey) -> bool:
    return bool(users.header or users.cookie)


def _shown(header: str) -> bool:
    name = header.lower()
    return (name in _SHOWN or name.startswith(_SHOWN_PREFIX)) and not any(each in name for each in _SECRETS)


def _user_filter(users: UserKey) -> Json:
    """The value alone that tells users apart goes to Cutset: no other cookie, and no other part of the header."""
    if not users.cookie:
        return mutation_filter(_USER_FILTER, [overwritten(USER_HEADER, f"%REQ({users.header})%")])
    constants = f'local COOKIE, USER = "{_escaped(users.cookie)}", "{USER_HEADER}"\n'
    return lua_filter(_USER_FILTER, constants + _COPY_COOKIE)


def _escaped(text: str) -> str:
    return "".join(f"\\{byte:03d}" for byte in text.encode())


def _mark_filter() -> Json:
    shown: list[Json] = [{"exact": name} for name in _SHOWN]
    config: Json = {
        "@type": FILTERS + "http.ext_authz.v3.ExtAuthz",
        "transport_api_version": "V3",
        "stat_prefix": "cutset",
        "failure_mode_allow": True,
        "clear_route_cache": False,
        "grpc_service": {"envoy_grpc": {"cluster_name": MARKER_CLUSTER}, "timeout": f"{ANSWER_SECONDS}s"},
        "allowed_headers": {"patterns": [*shown, {"prefix": _SHOWN_PREFIX}]},
        "disallowed_headers": {"patterns": [{"contains": each} for each in _SECRETS]},
        "decoder_header_mutation_rules": {"disallow_all": True, "allow_expression": {"regex": _CHANGED}},
    }
    return {"name": _FILTER, "typed_config": config}
