"""What `cutset install` does: everything is checked, then applied, then proven pod by pod."""

import os
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cutset.config.key import make_key_file
from cutset.errors import UsageError
from cutset.inject.istio.applying import Applied
from cutset.inject.istio.install import Prepared, install, prepare, prove, refuse_without_rights
from cutset.inject.istio.manifests import chart_files, manifest_text
from cutset.inject.istio.marks import DEFAULT_IMAGE, Installation
from cutset.inject.istio.probing import Probed
from cutset.inject.signing import public_key_of
from cutset.kubernetes.client import connected
from cutset.model.expect import split_address

_ENVIRONMENT = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class InstallOptions:
    namespaces: tuple[str, ...]
    environment: str = ""  # by default the first namespace
    context: str = ""
    keep_tracing: bool = False
    strip_all: bool = False
    trace_all: bool = False
    marking: bool = False
    collector: str = ""
    image: str = DEFAULT_IMAGE
    pull_policy: str = "IfNotPresent"
    force_mesh_config: bool = False
    dry_run: bool = False
    wait: bool = True


@dataclass(frozen=True, slots=True)
class InstallStarted:
    wanted: Installation
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InstallEnded:
    probed: Probed | None  # None: nothing was asked of pods
    unasked: str = ""  # why not
    dry_run: bool = False


InstallEvent = InstallStarted | Applied | Probed | InstallEnded


async def install_environment(options: InstallOptions) -> AsyncGenerator[InstallEvent]:
    key, wanted = _wanted(options)
    async with connected(options.context) as cluster:
        prepared = await prepare(cluster, wanted, force_mesh_config=options.force_mesh_config)
        yield InstallStarted(wanted, prepared.plan.notes)
        if not options.dry_run:
            await refuse_without_rights(cluster, prepared)
        async for applied in install(cluster, prepared, dry_run=options.dry_run):
            yield applied
        if unasked := _unasked(options):
            yield InstallEnded(None, unasked, options.dry_run)
            return
        probed = None
        async for probed in prove(cluster, prepared, key):
            yield probed
        yield InstallEnded(probed)


async def planned_manifests(options: InstallOptions) -> str:
    return manifest_text((await _prepared(options)).plan)


async def planned_chart(options: InstallOptions) -> dict[PurePosixPath, str]:
    prepared = await _prepared(options)
    return chart_files(prepared.plan, prepared.wanted.environment)


def write_chart(files: Mapping[PurePosixPath, str], folder: Path) -> list[Path]:
    """The files that were written."""
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"`{folder}` is not empty", hint="Name a folder that is new or empty")
    written = []
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        written.append(file)
    return written


async def _prepared(options: InstallOptions) -> Prepared:
    _, wanted = _wanted(options)
    async with connected(options.context) as cluster:
        return await prepare(cluster, wanted, force_mesh_config=True)  # who applies files changes it otherwise


def _wanted(options: InstallOptions) -> tuple[bytes, Installation]:
    environment = options.environment or options.namespaces[0]
    if not _ENVIRONMENT.fullmatch(environment):
        raise UsageError(
            f"`{environment}` cannot be the name of an environment",
            hint="Use at most 40 letters in lower case, digits and `-`, as in names of Kubernetes",
        )
    key = make_key_file(os.environ, environment)
    return key, Installation(
        environment,
        tuple(dict.fromkeys(options.namespaces)),
        public_key_of(key),
        options.keep_tracing,
        options.strip_all,
        _full_collector(options),
        options.image,
        options.pull_policy,
        options.trace_all,
        options.marking,
    )


def _full_collector(options: InstallOptions) -> str:
    """`otel.observability:4317` as Istio wants it."""
    if not options.collector:
        return ""
    try:
        host, port = split_address(options.collector)
    except ValueError as error:
        raise UsageError(f"`--collector`: {error}", hint="Write it as `service.namespace:4317`") from None
    if "." not in host:
        host = f"{host}.{options.namespaces[0]}"
    return f"{host}.svc.cluster.local:{port}" if host.count(".") == 1 else f"{host}:{port}"


def _unasked(options: InstallOptions) -> str:
    if options.dry_run:
        return "nothing was changed"
    if not options.wait:
        return "`--no-wait`"
    if options.keep_tracing or options.collector:
        return "there is no collector of ours that could ask them; `cutset doctor` proves it by requests of yours"
    return ""
