"""Whether guards and statistics agree with going on, from what was observed; and what guards are told of it."""

from collections import Counter

from cutset.guards.vital_signs import VitalSigns
from cutset.judge.control_guard import ControlGuard
from cutset.model.impact import ApiCall, ApiVerdict, Group, Impact, ImpactWindow, ObservedRequest, RequestsObserved
from cutset.model.point import Point
from cutset.model.wording import quoted


class Agreement:
    def __init__(self, signs: VitalSigns) -> None:
        self.control_worse = ""  # how the control got worse than before, if it did
        self._signs = signs
        self._entries: set[Point] = set()
        self._before: Counter[bool] = Counter()  # whether requests failed
        self._control: ControlGuard | None = None
        self._seen: Counter[Group] = Counter()  # in this step

    def begin_step(self) -> None:
        self._seen.clear()

    def add(self, event: RequestsObserved) -> None:
        for request in event.requests:
            if itself := _itself(request):
                self._signs.span_arrived()
                self._entries.add(itself.api)
                self._add(event.window, request, itself)
        for tally in event.others:
            self._signs.span_arrived()
            if tally.api in self._entries:  # of inner calls some may fail, and users be served well
                self._signs.counted(tally.requests, tally.failed, tally.slow)

    def objection(self, result: Impact) -> str:
        """Why the share must not rise; empty if it may."""
        if self.control_worse:
            return self.control_worse
        if result.problems:
            return "; ".join(result.problems)
        if not self._seen[Group.FAULT] or not self._seen[Group.CONTROL]:
            return "no request of both groups was seen"
        affected = [str(each.api) for each in result.apis if each.verdict is ApiVerdict.AFFECTED]
        return f"{quoted(affected)} {'is' if len(affected) == 1 else 'are'} affected" if affected else ""

    def _add(self, window: ImpactWindow, request: ObservedRequest, itself: ApiCall) -> None:
        if request.group is Group.FAULT:
            self._signs.answered_with_fault(failed=itself.failed)
        else:
            self._signs.answered(failed=itself.failed, seconds=itself.seconds)
        if window is ImpactWindow.BEFORE:
            self._before[itself.failed] += 1
            return
        self._seen[request.group] += 1
        if request.group is Group.CONTROL:
            self._watch_control(itself)

    def _watch_control(self, itself: ApiCall) -> None:
        if not self._before.total():
            return
        self._control = self._control or ControlGuard(self._before[True], self._before.total())
        if self._control.add(itself.failed) and not self.control_worse:
            now, before = (self._control.failed, self._control.requests), (self._before[True], self._before.total())
            self.control_worse = (
                f"requests without the fault fail more often than before: {now[0]:,} of {now[1]:,}, "
                f"and {before[0]:,} of {before[1]:,} before"
            )


def _itself(request: ObservedRequest) -> ApiCall | None:
    return next((call for call in request.calls if call.api == request.entry), None)
