"""What was injected, by the audit log."""

from collections.abc import Iterator
from pathlib import Path

from cutset.errors import UsageError
from cutset.store.audit import NAME, AuditEntry, audit_entries


def read_audit(store: Path, *, run: str = "", since: float = 0.0) -> Iterator[AuditEntry]:
    """Of all runs or one, since a moment in Unix seconds, the oldest first."""
    if not any(store.glob(f"{NAME}*")):
        raise UsageError(f"There is no audit log in `{store}`", hint="Nothing was injected by what uses this store")
    return (each for each in audit_entries(store) if each.at >= since and run in ("", each.run))
