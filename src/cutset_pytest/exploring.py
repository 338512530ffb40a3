"""One test: explored, or tried again with one finding, and what pytest is to make of it."""

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from cutset.app.testing import (
    PlaceForTests,
    concluded,
    explore_code,
    narrowed,
    recorded_finding,
    try_finding_again,
)
from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.model.event import CampaignEvent
from cutset.model.outcome import Outcome, Verdict
from cutset.model.wording import count
from cutset_pytest.carrying import hooked_clients
from cutset_pytest.driver import Bodies, Driver
from cutset_pytest.under_test import BodyRun

PROPERTY = "cutset"  # of a test's report: what came of it, as JSON
SETTINGS = ("max_size", "effects", "certificates", "max_seconds", "config")  # of the mark


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line and the ini file say of all tests."""

    replay: str = ""  # a finding
    baseline: Path | None = None
    incomplete: str = "fail"  # what a test is whose exploration left something open: fail, xfail or skip
    experiments: int | None = None
    minutes: float | None = None


def explore_test(
    driver: Driver,
    place: PlaceForTests,
    name: str,
    body: Callable[[BodyRun], None],
    *,
    mark: Mapping[str, Any],
    wish: Wish,
    tell: Callable[[str, str], None],
) -> None:
    """Returns if the test holds; else raises what pytest reports. `tell` is told what came of it, as a property."""
    bodies = Bodies(body)
    chosen = {key: mark.get(key) for key in ("max_size", "effects", "certificates")}
    config = narrowed(place.config, **chosen, experiments=wish.experiments, minutes=wish.minutes)
    request = bodies.request(name, mark.get("max_seconds"), config.limits.trace_timeout)

    async def campaign(laboratory: MeshLaboratory) -> list[CampaignEvent]:
        async with aclosing(explore_code(config, request, laboratory, place)) as events:
            return [event async for event in events]

    with hooked_clients():
        if wish.replay:
            _show_retrial(driver.serve(place, request, bodies, _again(place, wish, request)), bodies)
            return
        events = driver.serve(place, request, bodies, campaign)
    explored = concluded(events, place, wish.baseline)
    document = {**explored.to_document(), "runs": bodies.runs}
    tell(PROPERTY, json.dumps(document))
    if explored.failures:
        _fail_with([bodies.errors.get(finding.cut) for finding in explored.failures], told(document))
    if explored.is_open:
        _leave_open("\n".join(["what was explored is not complete:", *explored.left_open]), wish.incomplete)


def _again(place: PlaceForTests, wish: Wish, request: Any) -> Callable[[MeshLaboratory], Coroutine[Any, Any, Outcome]]:
    finding = recorded_finding(place.store, wish.replay)

    async def again(laboratory: MeshLaboratory) -> Outcome:
        return (await try_finding_again(finding, request, laboratory)).outcome

    return again


def _show_retrial(outcome: Outcome, bodies: Bodies) -> None:
    cut = " + ".join(map(str, sorted(outcome.cut)))
    if outcome.verdict is Verdict.FAILED:
        _fail(bodies.errors.get(outcome.cut), [f"still fails with {cut}: {_seen(outcome.reason)}"])
    if outcome.verdict is Verdict.UNKNOWN:
        pytest.fail(f"could not tell whether it still fails with {cut}: {outcome.reason}", pytrace=False)


def _fail_with(errors: Sequence[BaseException | None], lines: list[str]) -> NoReturn:
    """With the first that is no expected failure, if there is one."""
    unexpected = [error for error in errors if not isinstance(error, pytest.xfail.Exception)]
    _fail((unexpected or errors)[0], lines)


def _leave_open(text: str, incomplete: str) -> NoReturn:
    if incomplete == "xfail":
        pytest.xfail(text)
    if incomplete == "skip":
        pytest.skip(text)
    pytest.fail(text, pytrace=False)


def _fail(error: BaseException | None, lines: list[str]) -> NoReturn:
    """As the body failed, where it failed, with what made it fail."""
    if error is None:
        pytest.fail("\n".join(lines), pytrace=False)
    for line in lines:
        error.add_note(line)
    raise error


def told(explored: Mapping[str, Any]) -> list[str]:
    """Of one test, for its report and for the section at the end of the session."""
    size, wanted = explored["complete_up_to"], explored["max_size"]
    complete = f"complete up to size {size} for {', '.join(explored['effects'])}" if size >= 1 else "not complete"
    asked = "" if size >= wanted else f", not up to size {wanted}"
    made = f"{count(explored['experiments'], 'experiment')}, {count(explored['runs'], 'run')} of the body"
    return [
        f"{complete}{asked}: {made}",
        *([f"rests on: {explored['rests_on']}"] if size >= 1 and explored["rests_on"] else []),
        *(line for finding in explored["findings"] for line in _of_finding(finding)),
        *(f"? {each}" for each in explored["left_open"]),
        *(f"- {each}" for each in explored["asides"]),
    ]


def _of_finding(finding: Mapping[str, Any]) -> list[str]:
    words = "accepted: fails" if finding["accepted"] else "fails"
    minimal = "" if finding["minimal"] else " (smaller cuts inside it are still to be tried)"
    return [
        f"x {words} with {finding['cut']}{minimal}",
        f"    {_seen(finding['user_sees'])}",
        *([] if finding["accepted"] else [f"    {finding['replay']}"]),
    ]


def _seen(reason: str) -> str:
    """What a body raises is no answer, and goes without saying."""
    return reason.removeprefix("no answer: ")
