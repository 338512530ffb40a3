"""Who wrote a field of a resource, as the API server keeps it (`metadata.managedFields`)."""

import re
from typing import Any

from cutset.model.cluster import Resource


def owners_of(resource: Resource, path: str) -> list[str]:
    """The managers of a field such as `spec.http[0].timeout`. Whoever owns a list owns all that is in it."""
    keys = [f"f:{name}" for name in re.sub(r"\[\d+\]", "", path).split(".")]
    entries = resource["metadata"].get("managedFields", ())
    return sorted({str(entry.get("manager")) for entry in entries if _owns(entry.get("fieldsV1") or {}, keys)})


def _owns(fields: dict[str, Any], keys: list[str]) -> bool:
    for key in keys:
        if not fields:  # a leaf, or a list as a whole
            return True
        if key not in fields:
            return False
        fields = fields[key]
    return True
