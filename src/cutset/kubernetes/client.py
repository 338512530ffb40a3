"""A connection to an API server, by the user's kubeconfig or, inside a cluster, by the pod's own account.

kr8s does the work; here are the few verbs that we use, and its errors in our words.
"""

import json
import warnings
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import aiohttp
import httpx
import kr8s
import kr8s.asyncio
import yaml

from cutset.errors import TargetError, UsageError
from cutset.kubernetes.kinds import KINDS, kind_of, named
from cutset.kubernetes.port_forward import port_forward
from cutset.model.cluster import Resource

FIELD_MANAGER = "cutset"
TIMEOUT_SECONDS = 30
READ_TRIES = 3
_BROKEN = (httpx.NetworkError, httpx.RemoteProtocolError)


class ConflictError(TargetError):
    """Somebody else owns a field that we would set, or changed a resource meanwhile."""


class ForbiddenError(TargetError):
    """The API server knows the user, who may not do that."""


@dataclass(frozen=True, slots=True)
class Cluster:
    api: kr8s.asyncio.Api
    server: str  # its address, for messages

    async def version(self) -> str:
        """Of Kubernetes, as `v1.36.3`."""
        with self._explained("/version"):
            return str((await self.api.version())["gitVersion"])

    async def clock(self) -> float:
        """Of the API server, in Unix seconds, as it says with its answers: to the second."""
        with self._explained("/version"):
            async with self.api.call_api("GET", version="", base="/api", url="v1") as answer:
                return parsedate_to_datetime(answer.headers["date"]).timestamp()

    async def knows(self, kind: str) -> bool:
        """Whether the cluster has resources of that kind at all."""
        found = await self._found("GET", f"/apis/{KINDS[kind].version}" if KINDS[kind].group else "/api/v1")
        return any(each["name"] == KINDS[kind].plural for each in (found or {}).get("resources", ()))

    async def get(self, kind: str, name: str, namespace: str = "") -> Resource | None:
        return await self._found("GET", KINDS[kind].path(namespace, name))

    async def list(self, kind: str, namespace: str = "", labels: Mapping[str, str] | None = None) -> list[Resource]:
        """Of one namespace, or of all. Empty where the cluster has no such kind."""
        selector = ",".join(f"{name}={value}" for name, value in (labels or {}).items())
        answer = await self._found("GET", KINDS[kind].path(namespace), params={"labelSelector": selector})
        version = KINDS[kind].version
        singular = "Gateway" if kind == "KubernetesGateway" else kind
        # The items of a list do not say what they are.
        return [{"apiVersion": version, "kind": singular, **each} for each in (answer or {}).get("items", [])]

    async def apply(self, resource: Resource, *, dry_run: bool = False, force: bool = False) -> Resource:
        """Server-side: creates or updates, and owns what it sets. Raises ConflictError where others own that."""
        params = {"fieldManager": FIELD_MANAGER, "force": str(force).lower()} | ({"dryRun": "All"} if dry_run else {})
        path = kind_of(resource).path(resource["metadata"].get("namespace", ""), resource["metadata"]["name"])
        return await self._call("PATCH", path, resource, params=params, content_type="application/apply-patch+yaml")

    async def replace(self, resource: Resource, *, dry_run: bool = False) -> Resource:
        """What was read before, changed. Raises ConflictError if somebody else changed it meanwhile."""
        params = {"fieldManager": FIELD_MANAGER} | ({"dryRun": "All"} if dry_run else {})
        path = kind_of(resource).path(resource["metadata"].get("namespace", ""), resource["metadata"]["name"])
        return await self._call("PUT", path, resource, params=params)

    async def delete(self, resource: Resource, *, unchanged: bool = False) -> bool:
        """With all that belongs to it. False if it was not there.

        `unchanged`: only as it was read. Raises ConflictError if somebody else changed it meanwhile.
        """
        metadata = resource["metadata"]
        path = kind_of(resource).path(metadata.get("namespace", ""), metadata["name"])
        conditions = {name: metadata[name] for name in ("uid", "resourceVersion")} if unchanged else {}
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": conditions} if conditions else None
        return await self._found("DELETE", path, body=options, params={"propagationPolicy": "Background"}) is not None

    async def may(self, verb: str, kind: str, namespace: str = "", subresource: str = "", name: str = "") -> bool:
        """Whether the user may do that, to all or to the one of that name; asked of the API server, nothing is done."""
        found = KINDS[kind]
        wanted = {"verb": verb, "group": found.group, "resource": found.plural, "subresource": subresource}
        wanted |= {"name": name} if name else {}
        spec = {"resourceAttributes": wanted | ({"namespace": namespace} if namespace else {})}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec}
        answer = await self._call("POST", f"/apis/{review['apiVersion']}/selfsubjectaccessreviews", review)
        return bool(answer["status"]["allowed"])

    @asynccontextmanager
    async def forwarded(self, pod: str, namespace: str, port: int) -> AsyncIterator[int]:
        """A port of this machine that leads to a port on the pod's loopback, past its sidecar."""
        if await self.get("Pod", pod, namespace) is None:
            raise _MissingError(f"Pod {namespace}/{pod} is not there")
        async with AsyncExitStack() as stack:
            try:
                local = await stack.enter_async_context(port_forward(self.api, namespace, pod, port))
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise _no_forward(error, f"Pod {namespace}/{pod}, port {port}") from error
            yield local

    async def _found(self, method: str, path: str, **options: Any) -> Resource | None:
        try:
            return await self._call(method, path, **options)
        except _MissingError:
            return None

    async def _call(
        self,
        method: str,
        path: str,
        body: Resource | None = None,
        *,
        params: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Resource:
        asked: dict[str, Any] = {"params": {name: value for name, value in (params or {}).items() if value}}
        if body is not None:
            asked |= {"content": json.dumps(body), "headers": {"content-type": content_type}}
        what = named(body) if body and "name" in body.get("metadata", {}) else path
        # `call_api` builds addresses of what it knows by itself; this one is whole.
        asked |= {"method": method, "version": "", "base": path.rpartition("/")[0], "url": path.rpartition("/")[2]}
        # What only reads is asked again when its connection breaks: kept ones are closed at any time.
        for left in range(READ_TRIES if method == "GET" else 1, 0, -1):
            with (
                self._explained(what),
                suppress(*((httpx.NetworkError, httpx.RemoteProtocolError) if left > 1 else ())),
            ):
                return _checked(await self._answer(asked), what)
        raise AssertionError("the last try returns or raises")

    async def _answer(self, asked: dict[str, Any]) -> httpx.Response:
        # Whatever is refused, kr8s would log in again, and close the connection under those who share it.
        async with self.api.call_api(**asked, raise_for_status=False) as answer:
            if answer.status_code != HTTPStatus.UNAUTHORIZED:
                return answer
        async with self.api.call_api(**asked) as answer:  # the login may have run out
            return answer

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except kr8s.ServerError as error:
            status = error.response.status_code if error.response is not None else 0
            raise _refusal(status, str(error), what) from error
        except kr8s.NotFoundError as error:
            raise _MissingError(f"{what} is not there") from error
        except (httpx.HTTPError, kr8s.APITimeoutError, kr8s.ConnectionClosedError, OSError) as error:
            raise TargetError(
                f"The Kubernetes API server at {self.server} does not answer: {str(error) or type(error).__name__}",
                hint="See whether `kubectl version` reaches it with the same kubeconfig and context",
            ) from error


@asynccontextmanager
async def connected(context: str = "") -> AsyncIterator[Cluster]:
    """By `KUBECONFIG` or ~/.kube/config; inside a cluster, by the service account of the pod."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of versions that kr8s has not been tested with
        try:
            # Not by `kr8s.asyncio.api`, which may give another caller's connection, to another cluster.
            api = await kr8s.asyncio.Api(context=context or None, bypass_factory=True)
        except (httpx.HTTPError, kr8s.APITimeoutError, kr8s.ServerError, OSError) as error:
            raise TargetError(
                f"The Kubernetes API server does not answer: {str(error) or type(error).__name__}",
                hint="See whether `kubectl version` reaches it with the same kubeconfig and context",
            ) from error
        except (ValueError, KeyError, yaml.YAMLError) as error:
            raise UsageError(
                f"There is no usable kubeconfig{f' with a context `{context}`' if context else ''}: {error}",
                hint="Set KUBECONFIG, or choose a context of `kubectl config get-contexts`",
            ) from error
    api.timeout = TIMEOUT_SECONDS
    try:
        yield Cluster(api, str(api.auth.server))
    finally:
        if api._session is not None:  # noqa: SLF001 -- nothing public closes it
            await api._session.aclose()  # noqa: SLF001


class _MissingError(TargetError):
    pass


def _no_forward(error: Exception, what: str) -> TargetError:
    if isinstance(error, aiohttp.WSServerHandshakeError) and error.status == HTTPStatus.FORBIDDEN:
        return ForbiddenError(
            f"{what}: you may not forward ports there",
            hint="That takes `get` and `create` of `pods/portforward`; docs/how-to/istio.md has all rights",
        )
    return TargetError(f"{what}: no port-forward: {str(error) or type(error).__name__}")


def _checked(answer: httpx.Response, what: str) -> Resource:
    try:
        found: Resource = answer.json()
    except ValueError:
        found = {}
    if answer.is_error:
        raise _refusal(answer.status_code, str(found.get("message") or answer.reason_phrase), what)
    return found


def _refusal(status: int, message: str, what: str) -> TargetError:
    if status == HTTPStatus.NOT_FOUND:
        return _MissingError(f"{what} is not there: {message}")
    if status == HTTPStatus.CONFLICT:
        return ConflictError(f"{what}: {message}", hint="What others own is never overwritten: agree with them")
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return ForbiddenError(
            f"{what}: {message}",
            hint="`cutset doctor` lists the rights that are missing, docs/how-to/istio.md all of them",
        )
    return TargetError(f"{what}: {message}")
