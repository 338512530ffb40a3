"""The laboratory's network: a bridge, a network namespace per pod, and what kube-proxy and the cluster's DNS would do.

A pod's namespace is /run/netns/NAMESPACE_POD. Names are in a file that the pods of a namespace have as /etc/hosts; a
Service's address leads to one of its endpoints by iptables, for pods only: others come by a gateway.
"""

import itertools
import threading
from pathlib import Path

from cluster.api import Api, Resource
from cluster.processes import Place, run
from cluster.requirements import iptables_environment

BRIDGE, BRIDGE_ADDRESS, CLUSTER_ADDRESSES = "pods", "10.22.0.1", "10.96.0.0/16"
_numbers = itertools.count(256)  # 10.22.1.0 and on: below are the bridge and what may be put beside it


def set_up_bridge() -> None:
    commands = f"""
        link set lo up
        link add {BRIDGE} type bridge
        addr add {BRIDGE_ADDRESS}/16 dev {BRIDGE}
        link set {BRIDGE} up
    """
    run("ip", "-batch", "-", given=commands)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def pod_namespace(namespace: str, pod: str) -> str:
    return f"{namespace}_{pod}"


def add_pod(name: str) -> str:
    """Makes a network namespace of this name on the bridge and returns its address."""
    number = next(_numbers)
    address = f"10.22.{number // 256}.{number % 256}"
    run("ip", "netns", "add", name)
    link = f"pod{number}"
    run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
    run("ip", "link", "set", link, "master", BRIDGE, "up")
    inside = f"""
        link set lo up
        addr add {address}/16 dev eth0
        link set eth0 up
        route add default via {BRIDGE_ADDRESS}
    """
    run("ip", "-n", name, "-batch", "-", given=inside)
    return address


def remove_pod(name: str) -> None:
    run("ip", "netns", "del", name)


def keep_names_and_routes(place: Place, api: Api, hosts: Path) -> None:
    """Follows Services and EndpointSlices in threads of its own; `hosts` gets one file per namespace."""
    kept: dict[str, dict[str, Resource]] = {"namespaces": {}, "services": {}, "endpointslices": {}}
    changed = threading.Event()

    def follow(path: str) -> None:
        known = kept[path.rpartition("/")[2]]
        for event, item in api.watch(path):
            key = f"{item['metadata'].get('namespace')}/{item['metadata']['name']}"
            if event == "DELETED":
                known.pop(key, None)
            else:
                known[key] = item
            changed.set()

    def renew() -> None:
        while changed.wait():
            changed.clear()
            services = list(kept["services"].values())
            for namespace in list(kept["namespaces"].values()):
                _write_hosts(hosts / namespace["metadata"]["name"], services)
            run(
                "iptables-restore",
                env=iptables_environment(place.binaries),
                given=_rules(services, list(kept["endpointslices"].values())),
            )

    hosts.mkdir(parents=True)
    for path in ("/api/v1/namespaces", "/api/v1/services", "/apis/discovery.k8s.io/v1/endpointslices"):
        threading.Thread(target=follow, args=(path,), daemon=True).start()
    threading.Thread(target=renew, daemon=True).start()


def _write_hosts(path: Path, services: list[Resource]) -> None:
    """In place, because pods have this very file mounted; in one write, because they read it at any time."""
    lines = ["127.0.0.1 localhost"]
    for service in services:
        metadata, address = service["metadata"], service["spec"].get("clusterIP", "None")
        if address != "None":
            short = f" {metadata['name']}" if metadata["namespace"] == path.name else ""
            name = f"{metadata['name']}.{metadata['namespace']}"
            lines.append(f"{address}{short} {name} {name}.svc {name}.svc.cluster.local")
    path.touch()
    with path.open("r+b", buffering=0) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
        file.truncate()


def _rules(services: list[Resource], slices: list[Resource]) -> str:
    lines = ["*nat", ":PREROUTING ACCEPT", ":POSTROUTING ACCEPT"]
    for service in services:
        address = service["spec"].get("clusterIP", "None")
        for port in service["spec"].get("ports") or [] if address != "None" else []:
            targets = _targets(service, port.get("name", ""), slices)
            match = f"-A PREROUTING -d {address} -p {port['protocol'].lower()} --dport {port['port']}"
            for index, target in enumerate(targets):
                share = f" -m statistic --mode random --probability {1 / (len(targets) - index):.4f}"
                lines.append(f"{match}{share if index < len(targets) - 1 else ''} -j DNAT --to-destination {target}")
    # Answers have to come back through here, although both ends are on one bridge.
    return "\n".join([*lines, "-A POSTROUTING -m conntrack --ctstate DNAT -j MASQUERADE", "COMMIT", ""])


def _targets(service: Resource, port: str, slices: list[Resource]) -> list[str]:
    found = []
    for each in slices:
        labels, metadata = each["metadata"].get("labels", {}), each["metadata"]
        if (metadata["namespace"], labels.get("kubernetes.io/service-name")) != (
            service["metadata"]["namespace"],
            service["metadata"]["name"],
        ):
            continue
        numbers = [each_port["port"] for each_port in each.get("ports") or [] if (each_port.get("name") or "") == port]
        ready = [end for end in each.get("endpoints") or [] if end.get("conditions", {}).get("ready", True)]
        found += [f"{end['addresses'][0]}:{number}" for end in ready for number in numbers]
    return sorted(found)
