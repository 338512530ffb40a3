"""An installation as files, for those who apply them otherwise: plain YAML, or a Helm chart."""

from collections.abc import Sequence
from pathlib import PurePosixPath

import yaml

from cutset import __version__
from cutset.inject.istio.mesh_config import entry_lines
from cutset.inject.istio.planning import InstallPlan
from cutset.model.cluster import Resource


class _BlockDumper(yaml.SafeDumper):
    """Programs in filters are readable as they are written."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_BlockDumper.add_representer(str, _text)


def manifest_text(plan: InstallPlan) -> str:
    """All of it in one file. What MeshConfig needs besides is said in the first lines: that is others' text."""
    return "".join([*(f"# {line}\n" for line in _head(plan)), documents(plan.resources)])


def chart_files(plan: InstallPlan, environment: str) -> dict[PurePosixPath, str]:
    """A Helm chart with the same resources. Its image can be chosen by the value `image`."""
    chart = {
        "apiVersion": "v2",
        "name": f"cutset-{environment}",
        "description": f"Cutset's environment {environment}: what makes sidecars obey signed fault plans",
        "version": __version__,
        "appVersion": __version__,
    }
    files = {
        PurePosixPath("Chart.yaml"): yaml.safe_dump(chart, sort_keys=False),
        PurePosixPath("values.yaml"): f"image: {_image(plan)}  # of the collector\n",
        PurePosixPath("templates/NOTES.txt"): "".join(f"{line}\n" for line in _head(plan)),
    }
    for resource in plan.resources:
        metadata = resource["metadata"]
        name = "-".join(filter(None, (resource["kind"].lower(), metadata.get("namespace", ""), metadata["name"])))
        files[PurePosixPath(f"templates/{name}.yaml")] = _template(resource)
    return files


def _head(plan: InstallPlan) -> list[str]:
    lines = ["Made by `cutset install --print`. Make it again when services come or go, or when Cutset is newer."]
    if plan.entries:
        lines += [
            "MeshConfig needs this besides, with Helm as `meshConfig.extensionProviders`:",
            *(line for entry in plan.entries for line in entry_lines(entry)),
        ]
    return lines


def documents(resources: Sequence[Resource]) -> str:
    return "".join(f"---\n{_dumped(each)}" for each in resources)


def _dumped(resource: Resource) -> str:
    return str(yaml.dump(resource, Dumper=_BlockDumper, sort_keys=False, width=1_000_000, allow_unicode=True))


def _template(resource: Resource) -> str:
    """What Helm would take for its own language is quoted in it."""
    text = _dumped(resource).replace("{{", '{{ "{{" }}')
    if resource["kind"] == "Deployment":
        (container,) = resource["spec"]["template"]["spec"]["containers"]
        text = text.replace(f"image: {container['image']}", "image: {{ .Values.image }}")
    return text


def _image(plan: InstallPlan) -> str:
    deployments = [each for each in plan.resources if each["kind"] == "Deployment"]
    return str(deployments[0]["spec"]["template"]["spec"]["containers"][0]["image"]) if deployments else '""'
