"""With `trust`: the calls of which other request classes show all that this one would ask.

MicroFI's rule (§4.4.3) is that an API handles the same failures in the same way, whoever asks for it. So it takes over
what fails other classes (`hints`); and for what they survive the same principle holds. Where all replicas of a call
together fail another class, and each was seen to serve when the others had faults, a call of it succeeds as long as any
replica does. Then its replicas leave nothing to ask: a set that has all of them fails, and one that has some of them is
as good as the set without. Else each class would prove anew that no fault of a shared call upsets another call, which
takes more injections than MicroFI spends; and MicroFI proves nothing of the kind.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cutset.model.fault import Cut, points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point


def stand_ins(failing: Iterable[Cut], runs: Sequence[Outcome], inventory: Points) -> Points:
    """All replicas of such calls; by what fails other classes, their runs, and the points of this one."""
    cuts = [points_of(cut) for cut in failing]
    known = (
        replicas
        for replicas in cuts
        if replicas == _of_the_same_call(replicas, inventory)
        and all(cut & replicas in (replicas, frozenset()) for cut in cuts)
        and any(run.retried & run.fired & replicas for run in runs)
        and all(any(_serves(point, replicas, run) for run in runs) for point in replicas)
    )
    return frozenset().union(*known)


def _of_the_same_call(replicas: Points, inventory: Points) -> Points:
    calls = {replace(point, replica="") for point in replicas}
    return frozenset(point for point in inventory if len(calls) == 1 and replace(point, replica="") in calls)


def _serves(point: Point, replicas: Points, run: Outcome) -> bool:
    """Whether this one did, with faults at all others, and those that were called took effect."""
    faulted = points_of(run.cut)
    proven = run.verdict is Verdict.SURVIVED and faulted & run.calls <= run.fired
    return proven and point in run.path and replicas - faulted == {point}
