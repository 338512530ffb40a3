"""Requests out of an OpenAPI 3 file: one for each operation, with the values that the file gives, or least ones.

Reads no other file and no address: a reference that leads elsewhere is a doubt. What writes is held back, since nobody
knows what it would do.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import yaml

from cutset.errors import InputError
from cutset.manifests.bounded_yaml import BoundedLoader
from cutset.model.request import Request, Step
from cutset.workload.sources.examples import Examples
from cutset.workload.sources.proposal import ProposedRequest

MAX_BYTES = 50_000_000  # of a file in JSON; YAML is bounded more tightly
METHODS = ("get", "head", "post", "put", "patch", "delete")
_READING = frozenset({"get", "head"})
_PLACE = re.compile(r"\{([^{}]+)\}")


def read_openapi(path: Path) -> Mapping[str, Any]:
    document = _parsed(path)
    if "swagger" in document:
        raise InputError(
            f"`{path}` is of Swagger {document['swagger']}; Cutset reads OpenAPI 3",
            hint="Convert it, as with `npx swagger2openapi`",
        )
    version = str(document.get("openapi", ""))
    if not version:
        raise InputError(f"`{path}` is no OpenAPI file: it has no `openapi: 3.…`")
    if not re.match(r"3\.\d", version):
        raise InputError(f"`{path}` is of OpenAPI {version[:20]}; Cutset reads version 3")
    if not isinstance(document.get("paths"), dict) or not document["paths"]:
        raise InputError(f"`{path}`, paths: expected at least one path")
    return document


def _parsed(path: Path) -> Mapping[str, Any]:
    try:
        content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        if len(content) > MAX_BYTES:
            raise InputError(f"`{path}` has more than the {MAX_BYTES:,} bytes that are read")
        is_json = content.lstrip()[:1] == b"{"
        found = json.loads(content) if is_json else yaml.load(content, BoundedLoader)  # noqa: S506 -- a SafeLoader
    except OSError as error:
        raise InputError(f"Cannot read `{path}`: {error.strerror}") from None
    except yaml.YAMLError as error:
        hint = "A large file may be had as JSON, which is read up to 50 MB"
        raise InputError(f"`{path}` cannot be read: {' '.join(str(error).split())}", hint=hint) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"`{path}` is neither JSON nor YAML: {error}", hint="It may have been cut short") from None
    if not isinstance(found, dict):
        raise InputError(f"`{path}` is no OpenAPI file: expected a mapping")
    return found


@dataclass(slots=True)
class _Draft:
    """A request while its parameters are gathered."""

    path: dict[str, str] = field(default_factory=dict)
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    guessed: list[str] = field(default_factory=list)


def openapi_requests(path: Path) -> tuple[ProposedRequest, ...]:
    document = read_openapi(path)
    examples = Examples(document)
    proposed = []
    for template, method, item in _operations(document, examples):
        try:
            proposed.append(_proposed(method, _base_path(document) + template, item, examples))
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            where = f"`{path}`, paths.{template}.{method}"
            raise InputError(f"{where}: not as OpenAPI 3 has it: {type(error).__name__}, {error}") from None
    return tuple(proposed)


def _operations(document: Mapping[str, Any], examples: Examples) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for template, each in document["paths"].items():
        item = examples.resolved(each)
        if isinstance(item, dict) and str(template).startswith("/"):
            yield from ((template, method, item) for method in METHODS if isinstance(item.get(method), dict))


def _base_path(document: Mapping[str, Any]) -> str:
    servers = document.get("servers")
    first = servers[0] if isinstance(servers, list) and servers else {}
    url = first.get("url", "") if isinstance(first, dict) else ""
    for name, variable in (first.get("variables") or {}).items() if url else ():
        url = url.replace(f"{{{name}}}", str((variable or {}).get("default", "")))
    return urlsplit(url).path.rstrip("/")


def _proposed(method: str, template: str, item: Mapping[str, Any], examples: Examples) -> ProposedRequest:
    draft, operation = _Draft(), item[method]
    for parameter in _parameters(operation, item.get("parameters") or [], examples):
        _take(draft, parameter, examples)
    draft.headers |= dict(_credentials(operation, examples))
    path = _PLACE.sub(lambda place: quote(draft.path.get(place[1], "1"), safe=""), template)
    if draft.query:
        path += f"?{urlencode(draft.query)}"
    body = examples.body_of(operation.get("requestBody"))
    draft.guessed += body.guessed
    headers = draft.headers | ({"content-type": body.content_type} if body.text is not None else {})
    step = Step(method.upper(), path, headers, body.form, body.json, body.text)
    about = " ".join(str(operation.get("summary") or operation.get("operationId") or "").split())
    return ProposedRequest(
        Request(f"{method.upper()} {template}", step),
        about[:100].rstrip("."),
        f"guessed: {', '.join(dict.fromkeys(draft.guessed))}" if draft.guessed else "",
        "" if method in _READING else "it writes",
    )


def _parameters(operation: Mapping[str, Any], shared: list[Any], examples: Examples) -> Iterator[Mapping[str, Any]]:
    """Those of the operation win over those of its path."""
    own = operation.get("parameters") or []
    found = {}
    for each in (*shared, *(own if isinstance(own, list) else ())):
        parameter = examples.resolved(each)
        if isinstance(parameter, dict) and parameter.get("name"):
            found[parameter["name"], parameter.get("in")] = parameter
    yield from found.values()


def _take(draft: _Draft, parameter: Mapping[str, Any], examples: Examples) -> None:
    name, place = str(parameter["name"]), parameter.get("in")
    if not parameter.get("required") and place != "path":
        return
    value = examples.of_parameter(parameter)
    if not value.given:
        draft.guessed.append(name)
    text = value.text
    match place:
        case "path":
            draft.path[name] = text
        case "query":
            draft.query.append((name, text))
        case "header":
            draft.headers[name.lower()] = text
        case "cookie":
            draft.headers["cookie"] = "; ".join(filter(None, (draft.headers.get("cookie"), f"{name}={text}")))


def _credentials(operation: Mapping[str, Any], examples: Examples) -> Iterator[tuple[str, str]]:
    """From the environment: a secret is in no file of ours."""
    wanted = operation.get("security", examples.document.get("security")) or []
    schemes = examples.component("securitySchemes")
    for name in wanted[0] if wanted and isinstance(wanted[0], dict) else ():
        scheme = examples.resolved(schemes.get(name))
        variable = re.sub(r"\W+", "_", f"API_{name}").upper()
        if not isinstance(scheme, dict):
            continue
        if scheme.get("type") == "apiKey" and scheme.get("in") == "header":
            yield str(scheme.get("name", name)).lower(), f"${{{variable}}}"
        elif scheme.get("type") in {"http", "oauth2", "openIdConnect"}:
            prefix = "Basic" if str(scheme.get("scheme", "")).lower() == "basic" else "Bearer"
            yield "authorization", f"{prefix} ${{{variable}}}"
