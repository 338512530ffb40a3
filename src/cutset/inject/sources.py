"""The Lua texts of our filters, with the constants of where they run written above them.

`filter.lua` executes plans, `context.lua` joins the traces of other tracers, `sidecar.lua` binds both for Istio, where
no route switches them on; `edge.lua` lets nothing in from outside, `gateway.lua` only what our key signed.
"""

from collections.abc import Mapping
from importlib.resources import files


def filter_source(service: str, replica: str, environment: str, public_key: bytes = b"") -> str:
    """With a public key (DER) plans are those that its private key signed; else those of the key in `CUTSET_KEY`."""
    texts = {"SERVICE": service, "REPLICA": replica, "ENVIRONMENT": environment}
    constants = {name: _quoted(text.encode()) for name, text in texts.items()}
    constants["PUBLIC_KEY"] = _quoted(public_key) if public_key else "nil"
    return _declared(constants) + _text("filter.lua")


def context_source(*, inbound: bool) -> str:
    return _declared({"INBOUND": str(inbound).lower()}) + _text("context.lua")


def edge_source() -> str:
    return _text("edge.lua")


def sidecar_source(names: Mapping[str, str], environment: str, public_key: bytes, version: str = "") -> str:
    """Inbound, the same text for a whole namespace: a sidecar of Istio knows its workload and its pod.

    `names` are the services' by workload; a workload that it does not name is a service of the same name. `version`
    is what a probe is told.
    """
    table = ", ".join(f"[{_quoted(key.encode())}] = {_quoted(names[key].encode())}" for key in sorted(names))
    constants = {
        "WORKLOAD": 'os.getenv("ISTIO_META_WORKLOAD_NAME") or ""',
        "SERVICE": f"({{ {table} }})[WORKLOAD] or WORKLOAD",
        "REPLICA": 'os.getenv("POD_NAME") or ""',
        "ENVIRONMENT": _quoted(environment.encode()),
        "PUBLIC_KEY": _quoted(public_key),
        "VERSION": _quoted(version.encode()),
        "INBOUND": "true",
    }
    join, execute = "local join = envoy_on_request\n", "local execute = envoy_on_request\n"
    return _declared(constants) + _text("context.lua") + join + _text("filter.lua") + execute + _text("sidecar.lua")


def outbound_source() -> str:
    """The same for all sidecars: what a service sends names its trace for the mesh, if it may carry a plan."""
    join = "local join, execute = envoy_on_request\n"
    return _declared({"INBOUND": "false"}) + _text("context.lua") + join + _text("sidecar.lua")


def gateway_source(environment: str, public_key: bytes, *, strip_all: bool = False) -> str:
    constants = {
        "SERVICE": '""',
        "REPLICA": '""',
        "ENVIRONMENT": _quoted(environment.encode()),
        "PUBLIC_KEY": _quoted(public_key),
        "STRIP_ALL": str(strip_all).lower(),
    }
    return _declared(constants) + _text("filter.lua") + _text("gateway.lua")


def _text(name: str) -> str:
    return files("cutset.inject").joinpath(name).read_text(encoding="utf-8")


def _declared(constants: Mapping[str, str]) -> str:
    return "".join(f"local {name} = {value}\n" for name, value in constants.items())


def _quoted(text: bytes) -> str:
    return '"' + "".join(f"\\{byte:03d}" for byte in text) + '"'
