"""What `cutset uninstall` does: filters go, then it is proven that no pod obeys a plan, then the rest goes."""

import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from cutset.config.key import signing_key
from cutset.errors import CutsetError
from cutset.inject.istio.applying import Applied
from cutset.inject.istio.probing import Probed
from cutset.inject.istio.releasing import collector_gone
from cutset.inject.istio.uninstall import Removal, prepare_removal, prove_silence, remove_filters, remove_rest
from cutset.kubernetes.client import Cluster, ForbiddenError, connected


@dataclass(frozen=True, slots=True)
class UninstallOptions:
    namespaces: tuple[str, ...]
    environment: str = ""  # by default that of the first namespace
    context: str = ""
    wait: bool = True


@dataclass(frozen=True, slots=True)
class UninstallEnded:
    environment: str
    probed: Probed | None  # None: nothing was asked of pods
    unasked: str = ""  # why not
    stays: str = ""  # what could not be removed, and why


UninstallEvent = Applied | Probed | UninstallEnded


async def uninstall_environment(options: UninstallOptions) -> AsyncGenerator[UninstallEvent]:
    async with connected(options.context) as cluster:
        removal = await prepare_removal(cluster, options.namespaces, options.environment)
        async for removed in remove_filters(cluster, removal):
            yield removed
        probed, unasked = None, _unasked(options, removal)
        if not unasked:
            try:
                key = signing_key(os.environ, removal.environment, private=True)
                async for probed in prove_silence(cluster, removal, key):
                    yield probed
            except CutsetError as error:  # the proof fails, the removal must not
                unasked = error.message
        stays = ""
        try:
            async for removed in remove_rest(cluster, removal):
                yield removed
            stays = await _left(cluster, options)
        except ForbiddenError as error:
            stays = f"what environments share: whether others use it could not be seen ({error.message})"
        yield UninstallEnded(removal.environment, probed, unasked, stays)


def _unasked(options: UninstallOptions, removal: Removal) -> str:
    if not removal.filters:
        return "there was nothing that obeys plans"
    if not options.wait:
        return "`--no-wait`"
    installed = removal.installation
    if installed and (installed.keep_tracing or installed.collector):
        return "there is no collector of ours that could ask them"
    return ""


async def _left(cluster: Cluster, options: UninstallOptions) -> str:
    if not options.wait or await collector_gone(cluster):
        return ""
    return "namespace `cutset`: Kubernetes has not finished removing it"
