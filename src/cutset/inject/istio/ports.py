"""What is spoken on a Service's port, by Istio's own rules: `appProtocol`, else how the port's name begins."""

from cutset.model.cluster import ClusterPort, Resource

_STANDARD = {"kubernetes.io/h2c": "http2", "kubernetes.io/ws": "http", "kubernetes.io/wss": "https"}
_KNOWN = {
    **{name: name for name in ("http", "http2", "grpc", "https", "tls", "tcp", "udp")},
    "http_proxy": "http",
    **dict.fromkeys(("mongo", "redis", "mysql"), "tcp"),
}
_WELL_KNOWN = (25, 53, 3306, 27017)  # TCP without being told so: mail, names, MySQL, MongoDB


def protocol_of(port: Resource) -> str:
    """Of a port of a Service; empty where Istio has to guess by the first bytes that are sent."""
    if port.get("protocol") == "UDP":
        return "udp"
    said = str(port.get("appProtocol") or "")
    if said in _STANDARD:
        return _STANDARD[said]
    name = (said or str(port.get("name", ""))).lower()
    if name.startswith("grpc-web"):
        return "grpc-web"
    return _KNOWN.get(name.partition("-")[0], "tcp" if port["port"] in _WELL_KNOWN else "")


def port_of(port: Resource, pods: list[Resource]) -> ClusterPort:
    return ClusterPort(port["port"], _target(port, pods), protocol_of(port), port.get("name", ""))


def _target(port: Resource, pods: list[Resource]) -> int:
    wanted = port.get("targetPort") or port["port"]
    if isinstance(wanted, int):
        return wanted
    numbers = {
        each["containerPort"]
        for pod in pods
        for container in (*pod["spec"].get("containers", ()), *pod["spec"].get("initContainers", ()))
        for each in container.get("ports", ())
        if each.get("name") == wanted
    }
    return int(numbers.pop()) if len(numbers) == 1 else 0
