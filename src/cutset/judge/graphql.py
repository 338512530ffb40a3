"""GraphQL answers 200 whatever happens; whether it worked is said by `errors` (GraphQL specification, §7.1)."""

import json

from cutset.judge.shape import JSON_LIMIT
from cutset.model.request import Response

_KEYS = frozenset({"data", "errors", "extensions"})


def graphql_error(response: Response) -> str:
    """What the first of its errors says; empty if there is none, or the answer is not GraphQL's."""
    if b'"errors"' not in response.body or len(response.body) > JSON_LIMIT:
        return ""
    try:
        document = json.loads(response.body)
    except (ValueError, RecursionError):
        return ""
    errors = document.get("errors") if isinstance(document, dict) and document.keys() <= _KEYS else None
    if not isinstance(errors, list) or not errors:
        return ""
    first = errors[0]
    return str(first.get("message") or first) if isinstance(first, dict) else str(first)
