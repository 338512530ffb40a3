"""Our entry among the tracing providers of MeshConfig: text in, text out.

The text is others'. Lines are put in, each with our mark behind it, and taken out again: what else is there, comments
and order included, stays as it was, byte by byte. Where that cannot be done, it is not tried.
"""

import yaml

from cutset.errors import UsageError
from cutset.inject.istio.collector import COLLECTOR, OTLP_PORT
from cutset.inject.istio.marks import COLLECTOR_NAMESPACE, Installation
from cutset.model.cluster import Resource
from cutset.model.expect import split_address

MARK = " # by cutset install"
_KEY = "extensionProviders:"
# Labels and annotations of who would write it again, with what they belong to.
_OWNERS = {
    "app.kubernetes.io/managed-by": "",
    "install.operator.istio.io/owning-resource": "istioctl or an operator",
    "operator.istio.io/managed": "istioctl or an operator",
    "argocd.argoproj.io/instance": "Argo CD",
    "argocd.argoproj.io/tracking-id": "Argo CD",
    "kustomize.toolkit.fluxcd.io/name": "Flux",
    "helm.toolkit.fluxcd.io/name": "Flux",
    "meta.helm.sh/release-name": "Helm",
}
_MANAGERS = {
    "helm": "Helm",
    "istio-operator": "istioctl or an operator",
    "argocd-controller": "Argo CD",
}


def provider_entry(wanted: Installation) -> Resource:
    host, port = f"{COLLECTOR}.{COLLECTOR_NAMESPACE}.svc.cluster.local", OTLP_PORT
    if wanted.collector:
        host, port = split_address(wanted.collector)
    return {"name": wanted.provider, "opentelemetry": {"service": host, "port": port}}


def parsed_mesh(config: Resource | None) -> Resource:
    """Of the ConfigMap `istio`; empty where there is none, or where it says nothing."""
    return parsed((config or {}).get("data", {}).get("mesh", ""))


def parsed(text: str) -> Resource:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        found = None
    return found if isinstance(found, dict) else {}


def entry_in(text: str, name: str) -> Resource | None:
    providers = parsed(text).get("extensionProviders") or ()
    return next((each for each in providers if each.get("name") == name), None)


def entry_lines(entry: Resource) -> list[str]:
    """As one adds them by hand below `extensionProviders:`."""
    return yaml.safe_dump([entry], sort_keys=False).splitlines()


def with_entry(text: str, entry: Resource) -> str:
    """Raises UsageError, with the lines, where the text cannot be changed without touching what others wrote."""
    if entry_in(text, entry["name"]) == entry:
        return text
    text = without_entry(text, entry["name"])
    lines = text.splitlines(keepends=True)
    at = next((number for number, line in enumerate(lines) if line.startswith(_KEY)), None)
    if at is None:
        start = 1 if lines and lines[0].startswith("---") else 0
        lines, start, added = [*lines[:start], f"{_KEY}{MARK}\n", *lines[start:]], start + 1, entry_lines(entry)
    else:
        start = at + 1
        following = next((line for line in lines[start:] if line.strip() and not line.lstrip().startswith("#")), "")
        indent = following[: len(following) - len(following.lstrip())] if following.lstrip().startswith("- ") else ""
        added = [indent + line for line in entry_lines(entry)]
    changed = "".join([*lines[:start], *(f"{line}{_mark(entry['name'])}\n" for line in added), *lines[start:]])
    if not _adds_only(text, changed, entry):
        raise UsageError("MeshConfig is written in a way that no lines can be added to", hint=by_hand(entry))
    return changed


def without_entry(text: str, name: str) -> str:
    """As before `with_entry`. What somebody else wrote under that name stays."""
    left = "".join(line for line in text.splitlines(keepends=True) if not line.rstrip("\r\n").endswith(_mark(name)))
    key = f"{_KEY}{MARK}\n"
    return left if parsed(left).get("extensionProviders") else left.replace(key, "", 1)


def by_hand(*entries: Resource) -> str:
    lines = "\n".join(f"    {line}" for entry in entries for line in entry_lines(entry))
    return f"Add this to MeshConfig yourself, with Helm as `meshConfig.extensionProviders`, and install again:\n{lines}"


def owner_of(config: Resource) -> str:
    """Who would write the ConfigMap again, and so undo what we change; empty if nobody is known to."""
    metadata = config["metadata"]
    for name, text in {**(metadata.get("annotations") or {}), **(metadata.get("labels") or {})}.items():
        if name in _OWNERS:
            return _OWNERS[name] or str(text)
    managers = (str(each.get("manager", "")) for each in metadata.get("managedFields", ()))
    return next((_MANAGERS[each] for each in managers if each in _MANAGERS), "")


def _mark(name: str) -> str:
    return f"{MARK}: {name}"


def _adds_only(before: str, after: str, entry: Resource) -> bool:
    old, new = parsed(before), parsed(after)
    if not new or (before.strip() and not old):
        return False
    others = [each for each in new.get("extensionProviders") or () if each != entry]
    same = {**new, "extensionProviders": others} == {**old, "extensionProviders": old.get("extensionProviders") or []}
    return same and entry in new["extensionProviders"] and without_entry(after, entry["name"]) == before
