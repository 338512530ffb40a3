"""The brake: one question, asked before every injection. A guard of this run may pull it, and `cutset halt` for all."""

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from cutset.errors import HaltedError
from cutset.guards.halting import NAME, given_order
from cutset.model.impact import GuardTripped

HALT = "halt"  # the guard's name where a person pulled it


class Brake:
    """Of one run. May be asked and pulled from any thread."""

    def __init__(self, store: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._file = store / NAME
        self._clock = clock
        self._tripped: GuardTripped | None = None

    @property
    def pulled(self) -> GuardTripped | None:
        """Once it is pulled it stays so, for this run: an order that is lifted lets another one begin."""
        if self._tripped is None:
            try:
                self._file.stat()
            except (FileNotFoundError, NotADirectoryError):  # of a store that is gone, the audit log will tell
                return None
            except OSError:
                pass
            if order := given_order(self._store):
                self._trip(GuardTripped(guard=HALT, reason=_in_words(order.by, order.reason), at=order.at))
        return self._tripped

    def pull(self, guard: str, reason: str) -> None:
        """Who pulls first is named."""
        self._trip(GuardTripped(guard=guard, reason=reason, at=self._clock()))

    def check(self) -> None:
        """Raises HaltedError if nothing may be injected."""
        if tripped := self.pulled:
            raise halted_error(tripped, self._store)

    def _trip(self, tripped: GuardTripped) -> None:
        self._tripped = self._tripped or tripped


def halted_error(tripped: GuardTripped, store: Path) -> HaltedError:
    when = datetime.fromtimestamp(tripped.at).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
    if tripped.guard == HALT:
        return HaltedError(
            f"Nothing is injected: {tripped.reason}, {when}",
            hint=f"`cutset halt --lift --store {store}` allows it again; `--resume` goes on with what can be resumed",
        )
    return HaltedError(
        f"The guard `{tripped.guard}` ended injection: {tripped.reason} ({when})",
        hint="Nothing is injected any more, and what is known is kept. See to it; `--resume` goes on with what can be "
        "resumed; limits are in `guards` of the configuration",
    )


def _in_words(by: str, reason: str) -> str:
    return f"halted by {by}{f', “{reason}”' if reason else ''}"
