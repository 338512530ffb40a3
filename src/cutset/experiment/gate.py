"""What every injection passes: the brake, the budgets, the audit log. What came of it is told to the guards."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cutset.errors import CutsetError
from cutset.guards.brake import Brake
from cutset.guards.budget import spent_budget
from cutset.guards.settings import GuardSettings
from cutset.guards.vital_signs import VitalSigns
from cutset.model.impact import Group
from cutset.model.request import Response
from cutset.model.run import Loop
from cutset.model.span import Span
from cutset.store.audit import AuditEntry, AuditLog


@dataclass(slots=True)
class Gate:
    """Of one run, or of several one after the other."""

    brake: Brake
    audit: AuditLog
    signs: VitalSigns
    settings: GuardSettings
    loop: Loop
    environment: str
    by: str  # user@host
    run: str = ""  # known once it has begun
    clock: Callable[[], float] = field(default=time.time)

    def permit(self, cut: str, trace_id: str, group: Group | None = None) -> None:
        """Raises HaltedError if there must be no injection; else it is written down, and may happen."""
        self.brake.check()
        if spent := spent_budget(self.signs, self.settings):
            self.brake.pull("budget", spent)
            self.brake.check()
        entry = AuditEntry(
            self.clock(), self.run, self.loop, self.environment, self.by, cut, trace_id, str(group or "")
        )
        try:
            self.audit.write(entry)
        except CutsetError as error:
            self.brake.pull("audit", error.message)
            self.brake.check()
        self.signs.mark()

    def answered(self, response: Response, *, with_fault: bool) -> None:
        failed = bool(response.error) or response.status >= 500
        if with_fault:
            self.signs.answered_with_fault(failed=failed)
        elif response.sent:
            self.signs.answered(failed=failed, seconds=response.seconds)

    def spans_arrived(self, _: Sequence[Span]) -> None:
        """Listens to a collector."""
        self.signs.span_arrived()
