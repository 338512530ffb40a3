"""The kill switch of a running mesh: runtime keys of Envoy, set by its admin interface, from whichever machine.

`cutset.enabled` at 0 makes every sidecar ignore plans, those of requests under way included; `cutset.mark` at 0 makes
the edge ask nobody whether to mark. They hold until they are taken back, or Envoy is started anew.
"""

import http.client
import json
from contextlib import closing
from urllib.parse import urlencode, urlsplit

from cutset.errors import TargetError
from cutset.model.expect import is_url

ENABLED = "cutset.enabled"
MARK = "cutset.mark"
ANSWER_SECONDS = 3.0


def switch_off(admin_url: str) -> None:
    _ask(admin_url, "POST", {ENABLED: "0", MARK: "0"})


def switch_on(admin_url: str) -> None:
    """As it was configured: an empty value takes an override back."""
    _ask(admin_url, "POST", {ENABLED: "", MARK: ""})


def is_switched_off(admin_url: str) -> bool:
    try:
        entries = json.loads(_ask(admin_url, "GET"))["entries"]
        return str(entries.get(ENABLED, {}).get("final_value", "")) == "0"
    except (ValueError, KeyError, AttributeError) as error:
        raise TargetError(f"What answers at {admin_url} is no admin interface of Envoy") from error


def _ask(admin_url: str, method: str, values: dict[str, str] | None = None) -> bytes:
    parts = urlsplit(admin_url)
    if not is_url(admin_url):
        raise TargetError(f"`{admin_url}` is no URL", hint="Name the admin interface as `http://127.0.0.1:9901`")
    path = f"/runtime_modify?{urlencode(values)}" if values else "/runtime"
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    try:
        with closing(kind(parts.netloc, timeout=ANSWER_SECONDS)) as connection:
            connection.request(method, path)
            answer = connection.getresponse()
            body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise TargetError(f"The mesh at {admin_url} does not answer: {str(error) or type(error).__name__}") from error
    if answer.status != 200:
        said = body.decode(errors="replace").strip()[:200]
        raise TargetError(f"The mesh at {admin_url} answered {answer.status}: {said}")
    return body
