"""What a hook wrote down of a fault before it let it happen: one JSON object in a file of its own."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from cutset.model.reproduction.site import SiteFault
from cutset.reproduce.rounds.harness import Firing
from cutset.reproduce.rounds.log_clock import LogMoment


def read_firing(
    path: Path, armed: Sequence[SiteFault], lines_at: Callable[[LogMoment], int], problems: list[str]
) -> Firing | None:
    """None if there is no such file; of what was `armed`, the one that fired is told even by one that was cut off."""
    if not path.exists():
        return None
    try:
        fields = json.loads(path.read_text("utf-8"))
        return Firing(
            fault=SiteFault(fields["site"], fields["occurrence"], fields["effect"]),
            log_lines=lines_at(LogMoment(fields["logged"], fields["printed"])),
            process=fields["process"],
            thread=fields["thread"],
            stack=tuple(fields["stack"]),
            within=fields["within"],
            nth=fields["nth"],
        )
    except (ValueError, KeyError) as error:  # its process was killed while it wrote
        problems.append(f"a fault fired, but what it was cannot be read: {error!r}")
        if len(armed) != 1:
            return None  # it may be any of them
        (fault,) = armed
        return Firing(fault, 0, 0, "", (), fault.within, fault.occurrence if fault.within else 0)
