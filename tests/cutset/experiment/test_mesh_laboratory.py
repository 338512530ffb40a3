import asyncio
import random
import re
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest
from tests.samples.small_shop import PATIENCE_SECONDS, Mortal, Shop, cut, get, points

from cutset.errors import HaltedError
from cutset.experiment import lifetimes, mesh_laboratory, wellbeing
from cutset.experiment.liveness import dead_servers
from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.experiment.trials import VOID_TRIALS
from cutset.lineage.path import Level
from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.model.event import RequestAudited
from cutset.model.fault import BASELINE, Cut, points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.model.request import FunctionStep, Request, Response
from cutset.model.span import Span
from cutset.traces.collector import Collector

ADS = cut("ad/GET /ads")
WITHOUT_END = 1000  # stumbles: more than any test sends requests


class Audited:
    """Laboratories that know their requests: each is audited once for all tests."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.known: dict[tuple[str, Level], dict[str, object]] = {}

    async def laboratory(
        self, request: Request, *, entry: str = "web", level: Level = Level.API, repeats: int = 2, **changes: object
    ) -> MeshLaboratory:
        known = self.known.setdefault((entry, level), {})
        if request.name not in known:
            laboratory = MeshLaboratory(self.shop.bench(entry, level=level), repeats=repeats)
            audited = await laboratory.audit(request)
            assert audited.healthy, audited.reason
            known |= laboratory._known
        laboratory = MeshLaboratory(self.shop.bench(entry, level=level, **changes), repeats=repeats)
        laboratory._known |= known
        return laboratory

    async def run(self, request: Request, faults: Cut, **options: object) -> Outcome:
        laboratory = await self.laboratory(request, **options)
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await laboratory.run(request, faults)


@pytest.fixture(scope="module")
def audited(open_for_all: Shop) -> Audited:
    return Audited(open_for_all)


@pytest.fixture
def impatient(monkeypatch):
    """What is broken now is taken to stay broken."""
    monkeypatch.setattr(wellbeing, "RECOVERY_SECONDS", 0)


def of_mesh(service: str, span: Span) -> bool:
    return span.attributes.get("cutset.service") == service


# A verdict needs proof


@pytest.mark.parametrize(
    ("misled", "reason"),
    [
        ({"void": "skipped: not today"}, "skipped: not today"),
        ({"told": BASELINE}, "asked what had fired, it was told nothing, and the trace says ad/GET /ads:abort(503)"),
    ],
)
def test_code_that_was_misled_or_declines_to_judge_proves_nothing(shop, run, audited, misled, reason):
    bench = shop.bench()

    async def page(headers: dict[str, str]) -> Response:
        async with bench.client.get(f"{bench.url}/page", headers=headers) as answer:
            ads = b"ad" in await answer.read()
        return Response(200, exchanges=1, **({} if ads else misled))

    outcome = run(audited.run(Request(f"code {reason}", FunctionStep("page", page)), ADS))

    assert (outcome.verdict, outcome.reason) == (Verdict.UNKNOWN, reason)


def test_a_fault_on_an_optional_call_degrades_the_answer(shop, run, audited):
    outcome = run(audited.run(get("/page"), ADS))

    assert outcome.verdict is Verdict.DEGRADED
    assert "ad" in outcome.reason
    assert outcome.path == points("cart/GET /items")
    assert outcome.failed == points("ad/GET /ads")
    assert outcome.calls == points("cart/GET /items", "ad/GET /ads")
    assert (outcome.trials, len(outcome.trace_ids), outcome.failures) == (2, 2, 0)
    assert outcome.requests == 4  # each is held against a request without a fault right after


def test_looked_at_closely_it_has_as_many_requests_as_it_takes_to_see_a_share(shop, run):
    laboratory = MeshLaboratory(shop.bench(), repeats=2)
    page = get("/page")
    run(laboratory.audit(page))

    outcome = run(laboratory.run(page, ADS, share=0.2))

    assert (outcome.verdict, outcome.trials, outcome.failures) == (Verdict.DEGRADED, 14, 0)


def test_of_what_failed_or_was_degraded_one_typical_trial_is_kept_until_somebody_takes_it(shop, run):
    laboratory = MeshLaboratory(shop.bench(), repeats=2)
    page = get("/page")

    found = run(laboratory.audit(page))
    healthy = laboratory.evidence(found.trace_ids)
    degraded = run(laboratory.run(page, ADS))
    evidence = laboratory.evidence(degraded.trace_ids)

    assert (healthy.cut, healthy.answer.status, "ad" in healthy.answer.text) == (BASELINE, 200, True)
    assert not [span for span in healthy.spans if span.fault]
    assert (evidence.request, evidence.cut, evidence.trace_id) == ("GET /page", ADS, degraded.trace_ids[0])
    (faulted,) = (span for span in evidence.spans if span.fault)
    assert (faulted.service, faulted.name, faulted.fault) == ("ad", "GET /ads", "ad/GET /ads:abort(503)")
    assert {span.service for span in evidence.spans} == {"web", "cart", "ad"}
    assert laboratory.evidence(degraded.trace_ids) is None
    survived = run(laboratory.run(page, cut("stock/Count")))
    assert laboratory.evidence(survived.trace_ids) is None


def test_answers_are_kept_only_if_that_is_wanted_and_what_nobody_takes_is_dropped(shop, run, monkeypatch):
    monkeypatch.setattr(mesh_laboratory, "MOST_KEPT", 1)
    laboratory = MeshLaboratory(shop.bench(), repeats=1, keep_answers=False)

    found = run(laboratory.audit(get("/page")))
    failed = run(laboratory.run(get("/page"), cut("cart/GET /items")))

    assert laboratory.evidence(found.trace_ids) is None
    evidence = laboratory.evidence(failed.trace_ids)
    assert evidence.answer is None
    assert evidence.spans


def test_a_fault_whose_call_nobody_sees_is_survived_without_it_on_the_path(shop, run, audited):
    outcome = run(audited.run(get("/quiet"), ADS))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.path == points("cart/GET /items")
    assert outcome.failed == points("ad/GET /ads")


def test_a_fault_that_was_never_called_is_unknown_and_the_reason_names_it(shop, run, audited):
    outcome = run(audited.run(get("/quiet"), cut("email/Send")))

    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.reason == "never fired: email/Send was not called"
    assert outcome.path == frozenset()
    assert outcome.requests == VOID_TRIALS


def test_a_fault_that_no_plan_can_say_is_unknown_and_the_reason_says_why(shop, run, audited):
    outcome = run(audited.run(get("/page"), cut("ad/GET /ads:connection-refused")))

    assert outcome.verdict is Verdict.UNKNOWN
    assert "connection-refused" in outcome.reason


def test_a_fault_that_the_plan_does_not_carry_to_its_call_is_unknown(shop, run, audited):
    outcome = run(audited.run(get("/forgetful"), cut("cart/GET /items", "forgetful/GET /pass:delay(1ms)")))

    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.reason == "called, but not faulted: cart/GET /items"


def test_the_empty_cut_survives_with_everything_on_its_path(shop, run, audited):
    outcome = run(audited.run(get("/quiet"), BASELINE))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.path == points("cart/GET /items", "ad/GET /ads")


def test_services_that_only_forward_headers_are_judged_alike(shop, run, audited):
    outcome = run(audited.run(get("/page"), ADS, entry="relay"))

    assert outcome.verdict is Verdict.DEGRADED
    assert outcome.path == points("cart/GET /items")
    assert outcome.failed == points("ad/GET /ads")


@pytest.mark.parametrize("kind", ["jaeger", "datadog", "b3baggage"])
def test_services_that_copy_the_headers_of_another_tracer_are_joined_and_reached(shop, run, kind):
    async def explore() -> tuple[RequestAudited, list[Verdict]]:
        laboratory = MeshLaboratory(shop.bench(f"{kind}1"), repeats=1)
        found = await laboratory.audit(get("/page"))
        cuts = [cut("ad/GET /ads"), cut("cart/GET /items"), cut(f"{kind}2/GET /pass")]
        return found, [(await laboratory.run(get("/page"), each)).verdict for each in cuts]

    found, verdicts = run(explore())

    untold = Uncoverable("calls past the mesh", OutOfReach.UNTOLD, f"{kind}1, {kind}2")
    assert (found.reason, found.uncoverable) == ("", (untold,))
    assert found.calls == points("ad/GET /ads", "cart/GET /items", f"{kind}2/GET /pass")
    assert found.edges == ((Point(f"{kind}2", "GET /pass"), Point("cart", "GET /items")),)
    assert verdicts == [Verdict.DEGRADED, Verdict.FAILED, Verdict.FAILED]


def test_a_fallback_past_the_mesh_is_told_by_the_experiment_that_brought_it_to_light(shop, run, audited):
    outcome = run(audited.run(get("/rescued"), cut("cart/GET /items")))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.uncoverable == {Uncoverable("GET /ads", OutOfReach.PAST_MESH, "web", shop.real_ports["ad"])}


def test_services_that_copy_b3_alone_are_joined_and_not_reached(shop, run):
    found = run(MeshLaboratory(shop.bench("zipkin1"), repeats=1).audit(get("/page")))

    assert found.calls == frozenset()
    assert {(each.call, each.caller, each.why) for each in found.uncoverable if each.is_service} == {
        ("ad/GET /ads", "zipkin1", OutOfReach.WITHOUT_PLAN),
        ("cart/GET /items", "zipkin2", OutOfReach.WITHOUT_PLAN),
        ("zipkin2/GET /pass", "zipkin1", OutOfReach.WITHOUT_PLAN),
    }
    assert all("has `x-b3-traceid`, but not the plan" in each.detail for each in found.uncoverable if each.is_service)


@pytest.mark.parametrize(
    "lost",
    [lambda span: of_mesh("cart", span), lambda span: span.service == "cart"],
    ids=["a span of the mesh", "a span of a service"],
)
def test_a_trace_that_lost_a_span_never_shortens_a_path(shop, run, audited, lost):
    laboratory = run(audited.laboratory(get("/quiet"), trace_timeout=0.4))

    with shop.losing(lost):
        outcome = run(laboratory.run(get("/quiet"), ADS))

    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.reason.startswith("the trace is incomplete, so the path may be longer than it shows: ")
    assert "cart" in outcome.reason or "/items" in outcome.reason
    assert outcome.path == frozenset()


# A failure counts only when it repeats, and while the request works without it


@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_a_failure_is_repeated_as_often_as_asked_and_confirmed_by_a_baseline(shop, run, audited, repeats):
    outcome = run(audited.run(get("/quiet"), cut("cart/GET /items"), repeats=repeats))

    assert outcome.verdict is Verdict.FAILED
    assert outcome.reason == "500 with `cart failed`"
    assert outcome.requests == 2 * repeats  # each is held against a request without a fault
    assert (outcome.trials, outcome.failures, outcome.healthy_after) == (repeats, repeats, True)
    assert outcome.fired == points("cart/GET /items")
    assert len(set(outcome.trace_ids)) == repeats
    assert outcome.dead == ()


@pytest.mark.parametrize("repeats", [2, 3])
def test_a_failure_that_does_not_repeat_is_survived_once_it_is_known_for_chance(shop, run, audited, repeats):
    laboratory = run(audited.laboratory(get("/quiet"), repeats=repeats))
    shop.stumbles["cart/items"] = 1

    outcome = run(laboratory.run(get("/quiet"), cut("cart/GET /items:delay(1ms)")))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.failures == 1
    assert outcome.trials > laboratory._rule.trials


def test_everything_halts_when_a_request_goes_on_to_fail_without_any_fault_and_the_call_is_named(
    shop, run, audited, impatient
):
    laboratory = run(audited.laboratory(get("/quiet")))
    shop.stumbles["cart/items"] = WITHOUT_END

    with pytest.raises(HaltedError) as halted:
        run(laboratory.run(get("/quiet"), cut("cart/GET /items:delay(1ms)")))

    assert halted.value.message == (
        "Stopped at GET /quiet: without any fault the request fails too: 500 with `cart failed`; "
        "what fails is cart/GET /items"
    )
    assert "`--resume`" in halted.value.hint


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("failing", [2, 3, 5])
def test_an_outage_is_not_blamed_on_the_cut_that_was_tried_meanwhile(shop, run, audited, repeats, failing):
    laboratory = run(audited.laboratory(get("/quiet"), repeats=repeats))
    shop.stumbles["cart/items"] = failing

    outcome = run(laboratory.run(get("/quiet"), ADS))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.failed == points("ad/GET /ads")


def test_an_outage_that_lasts_just_as_long_as_the_failures_makes_no_finding(shop, run, audited):
    """If they came in a row, the one request after them would not tell."""
    laboratory = run(audited.laboratory(get("/quiet"), repeats=2))
    shop.stumbles["cart/items"] = 2

    outcome = run(laboratory.run(get("/quiet"), ADS))

    assert outcome.verdict is Verdict.SURVIVED


def test_a_call_that_failed_by_itself_for_a_moment_is_no_part_of_what_is_shown(shop, run, audited):
    laboratory = run(audited.laboratory(get("/wide")))
    shop.stumbles["parts/b"] = 1

    outcome = run(laboratory.run(get("/wide"), cut("parts/GET /f")))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.failed == points("parts/GET /f")
    assert outcome.requests == 3


def test_a_part_that_is_missing_without_any_fault_is_not_blamed_on_the_cut(shop, run, audited):
    laboratory = run(audited.laboratory(get("/wide")))
    shop.stumbles["parts/c"] = 2  # with the cut, and without

    outcome = run(laboratory.run(get("/wide"), cut("parts/GET /f")))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.failed == points("parts/GET /f")


def test_an_audit_in_which_something_was_down_for_a_moment_is_made_again(shop, run):
    shop.stumbles["stockCount"] = 1
    moment = run(MeshLaboratory(shop.bench(), repeats=1).audit(get("/stock")))
    shop.stumbles["stockCount"] = WITHOUT_END
    always = run(MeshLaboratory(shop.bench(), repeats=1).audit(get("/stock")))

    assert moment.calls == points("stock/Count")
    assert always.calls == points("stock/Count", "cart/GET /items")


def test_what_the_request_does_after_all_experiments_is_held_against_its_audit(shop, run):
    laboratory = MeshLaboratory(shop.bench(), repeats=1)
    assert run(laboratory.audit(get("/stock"))).healthy
    assert run(laboratory.unlike_audit(get("/stock"))) == ""

    shop.stumbles["stockCount"] = 1
    assert "what fails is stock/Count" in run(laboratory.unlike_audit(get("/stock")))

    shop.stumbles["stockCount"] = 3
    during = MeshLaboratory(shop.bench(), repeats=1)
    assert run(during.audit(get("/stock"))).healthy  # by its fallback
    unlike = run(during.unlike_audit(get("/stock")))
    assert unlike == "without any fault it behaves unlike when it was audited: stock/Count fails no longer"


# Set-up


AFTER_PAGE = replace(get("/quiet", setup=("/page",)), name="quiet after page")


def test_whether_a_request_still_works_is_told_without_its_trace(shop, run, audited):
    laboratory = run(audited.laboratory(get("/page")))
    assert run(laboratory.still_works(get("/page"))) == ""
    shop.stumbles["web/page"] = 1
    assert run(laboratory.still_works(get("/page"))).startswith("50")


def test_a_set_up_step_that_goes_on_to_fail_halts_everything(shop, run, audited, impatient):
    laboratory = run(audited.laboratory(AFTER_PAGE))
    shop.stumbles["web/page"] = WITHOUT_END

    with pytest.raises(HaltedError, match="Set-up step 1 of 1 of `quiet after page`, `GET /page`, was answered 500"):
        run(laboratory.run(AFTER_PAGE, ADS))


def test_a_set_up_step_that_fails_once_makes_the_experiment_void_and_it_is_tried_again(shop, run, audited):
    laboratory = run(audited.laboratory(AFTER_PAGE))
    shop.stumbles["web/page"] = 1

    outcome = run(laboratory.run(AFTER_PAGE, ADS))

    assert (outcome.verdict, outcome.requests) == (Verdict.SURVIVED, 2)


def test_a_set_up_step_that_fails_after_the_failure_leaves_the_failure_unexplained(shop, run, audited, impatient):
    laboratory = run(audited.laboratory(AFTER_PAGE, repeats=1))

    async def break_meanwhile() -> tuple[str, ...]:
        shop.stumbles["web/page"] = WITHOUT_END
        return ()

    laboratory._servers.dead = break_meanwhile  # asked between the failure and the baseline that is to confirm it
    with pytest.raises(HaltedError, match="without any fault the request cannot be sent any more: Set-up step 1 of 1"):
        run(laboratory.run(AFTER_PAGE, cut("cart/GET /items")))


# The audit


def test_a_request_that_fails_without_faults_is_unhealthy(shop, run):
    shop.stumbles["cart/items"] = WITHOUT_END

    audited = run(MeshLaboratory(shop.bench(), repeats=2).audit(get("/page")))

    assert not audited.healthy
    assert audited.reason.startswith("unhealthy baseline: 3 of 3 without faults failed: 500 with `cart failed`")


def test_a_request_that_cannot_be_set_up_is_unhealthy(shop, run):
    shop.stumbles["web/quiet"] = WITHOUT_END

    audited = run(MeshLaboratory(shop.bench(), repeats=2).audit(get("/page", setup=("/quiet",))))

    assert not audited.healthy
    assert "Set-up step 1 of 1" in audited.reason
    assert audited.trace_ids == ()


def test_a_request_whose_spans_do_not_arrive_is_unhealthy_and_the_reason_says_where_to_look(shop, run):
    bench = shop.bench(collector=Collector(), trace_timeout=0.05)

    audited = run(MeshLaboratory(bench, repeats=2).audit(get("/page")))

    assert not audited.healthy
    assert audited.reason == (
        "no span of the request arrived, so nothing could be proved: does the mesh export to this collector?"
    )
    assert len(audited.trace_ids) == 3


def test_with_another_key_than_that_of_the_mesh_the_reason_says_so(shop, run):
    laboratory = MeshLaboratory(shop.bench(key=b"not the key of this mesh, but as long"), repeats=2)

    found = run(laboratory.audit(get("/page")))

    assert not found.healthy
    assert found.reason.startswith("the mesh refused the plan that came with the request: either `CUTSET_KEY` is not")


def test_the_runs_of_the_audit_are_outcomes_without_a_fault(shop, run):
    audited = run(MeshLaboratory(shop.bench(), repeats=2).audit(get("/page")))

    assert [outcome.trace_ids for outcome in audited.runs] == [(trace_id,) for trace_id in audited.trace_ids]
    for outcome in audited.runs:
        assert (outcome.cut, outcome.verdict) == (BASELINE, Verdict.SURVIVED)
        assert outcome.path == outcome.calls == points("cart/GET /items", "ad/GET /ads")


def test_the_audit_sees_which_api_calls_which(shop, run):
    relayed = run(MeshLaboratory(shop.bench(), repeats=2).audit(get("/mixed")))
    direct = run(MeshLaboratory(shop.bench(), repeats=2).audit(get("/page")))

    assert direct.edges == ()
    assert {(caller.service, callee.service) for caller, callee in relayed.edges} == {("relay", "cart")}


# Delays


def test_a_delay_within_the_deadline_is_survived(shop, run, audited):
    outcome = run(audited.run(get("/stock"), cut("stock/Count:delay(50ms)")))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.failed == frozenset()


@pytest.mark.parametrize(("path", "point"), [("/hasty", "ad/GET /ads"), ("/stock", "stock/Count")])
def test_a_delay_beyond_the_callers_deadline_is_survived_by_its_fallback(shop, run, audited, path, point):
    outcome = run(audited.run(get(path), cut(f"{point}:delay(60000ms)")))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.path == points("cart/GET /items")
    assert outcome.failed == points(point)


def test_a_delay_beyond_the_limit_of_the_request_is_a_failure(shop, run, audited):
    request = get("/patient", max_seconds=0.4)

    outcome = run(audited.run(request, cut("stock/Count:delay(600ms)"), repeats=1))

    assert outcome.verdict is Verdict.FAILED
    assert "limit 0.4s" in outcome.reason


def test_a_delay_that_nobody_waits_for_is_a_failure_all_the_same(shop, run, audited):
    request = replace(get("/patient", max_seconds=0.1), name="impatient")

    outcome = run(audited.run(request, cut("stock/Count:delay(1400ms)"), repeats=1))

    assert outcome.verdict is Verdict.FAILED
    assert "no whole answer" in outcome.reason


# Timeouts and spoilt answers


@pytest.mark.parametrize(("path", "point"), [("/hasty", "ad/GET /ads"), ("/stock", "stock/Count")])
def test_a_timeout_is_survived_by_a_caller_that_gives_up_and_nobody_waits_for_its_end(shop, run, audited, path, point):
    request = get(path, max_seconds=PATIENCE_SECONDS)  # that long the call is held back

    outcome = run(audited.run(request, cut(f"{point}:timeout")))

    assert (outcome.verdict, outcome.path) == (Verdict.SURVIVED, points("cart/GET /items"))
    assert (outcome.failed, outcome.fired) == (points(point), points(point))
    (gave_up,) = (call for call in outcome.seen if call.point == Point.parse(point))
    assert gave_up.status in ("0", "grpc 4")
    assert gave_up.milliseconds < 1000 * PATIENCE_SECONDS / 2


def test_a_timeout_fails_a_caller_that_has_none_of_its_own(shop, run, audited):
    request = replace(get("/patient", max_seconds=0.5), name="without a timeout")

    outcome = run(audited.run(request, cut("stock/Count:timeout"), repeats=1))

    assert (outcome.verdict, outcome.fired) == (Verdict.FAILED, points("stock/Count"))
    assert "no whole answer within 0.75s" in outcome.reason


def test_a_timeout_that_outlives_its_caller_and_the_answer_is_proved_as_soon_as_it_ends(shop, run, audited):
    request = replace(get("/nested", max_seconds=1.0), name="nested timeout")

    outcome = run(audited.run(request, cut("stock/Count:timeout")))

    assert (outcome.verdict, outcome.fired) == (Verdict.SURVIVED, points("stock/Count"))
    assert outcome.path == points("cart/GET /items")


def test_what_has_no_answer_to_spoil_because_of_another_fault_is_decided_with_it(shop, run, audited):
    both = cut("middle/GET /wait:garbled", "stock/Count:timeout")  # nobody waits for the former any more
    request = replace(get("/nested", max_seconds=1.0), name="nested, garbled")

    outcome = run(audited.run(request, both))

    assert (outcome.verdict, outcome.fired) == (Verdict.SURVIVED, points_of(both))
    assert outcome.path == points("cart/GET /items")


@pytest.mark.parametrize("effect", ["empty", "truncated", "garbled"])
def test_a_spoilt_answer_that_nobody_reads_is_survived_and_stays_on_the_path(shop, run, audited, effect):
    outcome = run(audited.run(get("/quiet"), cut(f"ad/GET /ads:{effect}")))

    assert (outcome.verdict, outcome.fired) == (Verdict.SURVIVED, points("ad/GET /ads"))
    assert outcome.path == points("cart/GET /items", "ad/GET /ads")


def test_a_plan_that_expired_during_its_request_proves_nothing_and_the_next_one_lives_longer(
    shop, run, audited, monkeypatch
):
    for name in ("LEAST_SECONDS", "SLOWER", "GRACE_SECONDS"):
        monkeypatch.setattr(lifetimes, name, 0.05)
    monkeypatch.setattr(lifetimes, "_delays", lambda _: 0.0)
    late = cut("cart/GET /items:delay(600ms)", "ad/GET /ads")

    async def tried():
        laboratory = await audited.laboratory(get("/page"))
        laboratory._lifetimes.note(get("/page"), BASELINE, 0.01, escaped=False)
        return await laboratory.run(get("/page"), late)

    outcome = run(tried())
    assert outcome.verdict is Verdict.DEGRADED
    assert outcome.fired == points_of(late)
    assert outcome.requests > 2, "the first one proved nothing, and the last was confirmed"


# Replicas


def test_all_replicas_but_one_may_fail(shop, run, audited):
    outcome = run(audited.run(get("/twins"), cut("twins/GET /one#1"), level=Level.REPLICA))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.path == points("twins/GET /one#2")
    assert outcome.calls == points("twins/GET /one#1", "twins/GET /one#2")
    assert outcome.failed == frozenset()


def test_when_all_replicas_fail_the_request_does(shop, run, audited):
    both = cut("twins/GET /one#1", "twins/GET /one#2")

    outcome = run(audited.run(get("/twins"), both, level=Level.REPLICA))

    assert outcome.verdict is Verdict.FAILED
    assert outcome.failed == points_of(both)


@pytest.mark.parametrize("replica", ["1", "2"])
def test_a_request_that_always_reaches_the_same_replica_is_nudged_to_the_other(
    shop, run, audited, monkeypatch, replica
):
    """Set-up and test make one call each, and round robin gives them one replica each, always the same."""
    monkeypatch.setattr(secrets, "randbelow", random.Random(1).randrange)
    request = replace(get("/twins", setup=("/twins",)), name="twins twice")

    outcome = run(audited.run(request, cut(f"twins/GET /one#{replica}"), level=Level.REPLICA))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.path == points(f"twins/GET /one#{3 - int(replica)}")


def test_of_a_replica_that_nobody_steps_in_for_a_share_of_requests_fails(shop, run, audited):
    outcome = run(audited.run(get("/balanced"), cut("balanced/GET /one#1"), level=Level.REPLICA))

    assert outcome.verdict is Verdict.FAILED
    assert outcome.fired == points("balanced/GET /one#1")
    assert 2 <= outcome.failures < outcome.trials
    assert outcome.trials >= 10
    share = f"those that balanced/GET /one#1 serves, {outcome.failures} of {outcome.trials}"
    assert outcome.reason == f"500 with `balanced failed`; fails a share of requests: {share}"
    assert len(outcome.trace_ids) == outcome.failures
    assert outcome.healthy_after
    assert outcome.retried == frozenset()


def test_when_both_of_them_fail_all_requests_do(shop, run, audited):
    both = cut("balanced/GET /one#1", "balanced/GET /one#2")

    outcome = run(audited.run(get("/balanced"), both, level=Level.REPLICA))

    assert (outcome.verdict, outcome.reason) == (Verdict.FAILED, "500 with `balanced failed`")
    assert outcome.trials == outcome.failures == 2


# Requests that vary, by caches and by chance


def test_the_audit_tells_that_requests_without_a_fault_differ(shop, run):
    audited = run(MeshLaboratory(shop.bench(), repeats=2).audit(get("/cached")))

    assert audited.healthy
    assert re.fullmatch(r"currency/GET /convert was called in [12] of 3 runs without a fault", audited.varies)


def test_what_fails_when_the_cache_misses_fails_a_share_of_requests(shop, run, audited):
    outcome = run(audited.run(get("/cached"), cut("currency/GET /convert")))

    assert outcome.verdict is Verdict.FAILED
    share = f"those that call currency/GET /convert, {outcome.failures} of {outcome.trials}"
    assert outcome.reason == f"500 with `currency failed`; fails a share of requests: {share}"
    assert 2 <= outcome.failures < outcome.trials
    assert outcome.trials >= 10  # on a busy machine, some cannot be told and are tried again
    assert outcome.healthy_after


def test_what_survives_where_requests_vary_is_tried_often_and_has_all_their_calls(shop, run, audited):
    outcome = run(audited.run(get("/cached"), cut("cart/GET /items:delay(1ms)")))

    assert outcome.verdict is Verdict.SURVIVED
    assert (outcome.trials, outcome.failures) == (10, 0)
    assert outcome.calls == outcome.path == points("cart/GET /items", "currency/GET /convert")
    assert [str(call.point) for call in outcome.seen] == ["cart/GET /items", "currency/GET /convert"]


def test_a_baseline_that_calls_something_else_shows_that_requests_vary(shop, run, audited):
    laboratory = run(audited.laboratory(get("/cached")))
    laboratory._known = {"GET /cached": replace(laboratory._known["GET /cached"], varying=False)}

    for _ in range(2):
        run(laboratory.run(get("/cached"), BASELINE))

    assert laboratory._known["GET /cached"].varying


def test_flaky_answers_are_no_findings(shop, run):
    """One answer in ten fails by itself, and a fault that does nothing is not blamed for it."""
    laboratory = MeshLaboratory(shop.bench(), repeats=4, flake_rate=0.1)
    shop.flakes["cart/items"] = 0.1
    audited = run(laboratory.audit(get("/quiet")))
    assert audited.healthy, audited.reason

    async def run_all() -> list[Outcome]:
        harmless = cut("cart/GET /items:delay(1ms)")
        return await asyncio.gather(*(laboratory.run(get("/quiet"), harmless) for _ in range(40)))

    outcomes = run(run_all())

    assert {outcome.verdict for outcome in outcomes} == {Verdict.SURVIVED}
    assert any(outcome.failures for outcome in outcomes)


def test_what_fails_among_flaky_answers_is_found(shop, run):
    laboratory = MeshLaboratory(shop.bench(), repeats=4, flake_rate=0.1)
    shop.flakes["cart/items"] = 0.1
    assert run(laboratory.audit(get("/quiet"))).healthy

    outcome = run(laboratory.run(get("/quiet"), cut("cart/GET /items")))

    assert (outcome.verdict, outcome.healthy_after) == (Verdict.FAILED, True)


# Values


def test_a_value_that_is_wrong_without_a_call_degrades_the_answer(shop, run, audited):
    outcome = run(audited.run(get("/priced"), ADS))

    assert outcome.verdict is Verdict.DEGRADED
    assert outcome.reason == "200, but wrong: `total` was 19.99, is 0.0"  # and not `number`, which is never the same


def test_a_value_that_changes_with_time_is_not_blamed_on_the_fault(shop, run, audited):
    """Three answers were alike; by the time of the experiment it was another day."""
    laboratory = run(audited.laboratory(get("/priced")))
    known = laboratory._known["GET /priced"]
    usual = known.baseline.usual
    yesterday = replace(usual, values=usual.values | Counter({("number", "0"): 1}))
    laboratory._known = {"GET /priced": replace(known, baseline=replace(known.baseline, usual=yesterday))}

    outcome = run(laboratory.run(get("/priced"), cut("cart/GET /items:delay(1ms)")))

    assert (outcome.verdict, outcome.reason) == (Verdict.SURVIVED, "200")
    assert outcome.requests == 2


def test_a_part_that_is_missing_without_a_fault_too_is_blamed_on_nobody(shop, run, audited):
    laboratory = run(audited.laboratory(get("/priced")))
    known = laboratory._known["GET /priced"]
    usual = replace(known.baseline.usual, parts=known.baseline.usual.parts | {"coupon: string"})
    laboratory._known = {"GET /priced": replace(known, baseline=replace(known.baseline, usual=usual))}

    outcome = run(laboratory.run(get("/priced"), cut("cart/GET /items:delay(1ms)")))

    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.reason == "without any fault a part is missing too: 200, but missing coupon: string"


# Names


def test_calls_of_one_route_are_one_point_whatever_sidecars_call_them(shop, run):
    laboratory = MeshLaboratory(shop.bench(), repeats=2)

    audited = run(laboratory.audit(get("/people")))
    outcome = run(laboratory.run(get("/people"), cut("users/GET /users/*")))

    assert audited.calls == points("users/GET /users/*", "cart/GET /items")
    assert (outcome.verdict, outcome.fired) == (Verdict.FAILED, points("users/GET /users/*"))


# Servers that die


class Supervised(MeshLaboratory):
    """On a system whose supervisor starts again what has died as soon as somebody waits for it."""

    mortal: Mortal

    async def recovered(self) -> bool:
        if await dead_servers((self.mortal.address,)):
            await self.mortal.start()
        return await super().recovered()


def supervised(shop: Shop, run: Callable[..., object], *paths: str, repeats: int = 2) -> Supervised:
    laboratory = Supervised(shop.bench(), repeats=repeats)
    laboratory.mortal = shop.mortal
    for path in paths:
        assert run(laboratory.audit(get(path))).healthy
    return laboratory


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_fault_that_kills_a_server_fails_and_names_it(shop, run, repeats):
    laboratory = supervised(shop, run, "/deadly", repeats=repeats)

    outcome = run(laboratory.run(get("/deadly"), cut("vault/GET /open")))

    assert outcome.verdict is Verdict.FAILED
    assert outcome.dead == (shop.mortal.address,)
    assert outcome.failures == max(2, repeats)  # with nobody else around, each time
    assert outcome.healthy_after
    assert outcome.fired == points("vault/GET /open")
    assert run(laboratory.recovered())


def test_a_server_that_dies_and_does_not_come_back_halts_everything_and_is_named(shop, run, impatient):
    target = replace(shop.bench().target, names={shop.mortal.address: "mortal#1"})
    laboratory = MeshLaboratory(shop.bench(target=target), repeats=2)
    assert run(laboratory.audit(get("/deadly"))).healthy

    with pytest.raises(HaltedError) as halted:
        run(laboratory.run(get("/deadly"), cut("vault/GET /open")))

    gone = f"mortal#1 at {shop.mortal.address} stopped answering and did not come back"
    assert halted.value.message == f"Stopped at GET /deadly: {gone}"
    run(shop.mortal.start())
    assert run(laboratory.recovered())


def test_the_death_of_a_service_that_is_not_needed_is_survived(shop, run):
    laboratory = supervised(shop, run, "/tolerant")

    outcome = run(laboratory.run(get("/tolerant"), cut("vault/GET /open")))

    assert outcome.verdict is Verdict.SURVIVED
    assert outcome.path == points("cart/GET /items")
    assert run(laboratory.recovered())


def test_a_death_is_blamed_on_nobody_who_was_merely_there(shop, run):
    laboratory = supervised(shop, run, "/deadly", "/vital")

    async def run_both() -> list[Outcome]:
        await shop.mortal.stop()  # as somebody else's experiment would
        return await asyncio.gather(
            laboratory.run(get("/vital"), ADS), laboratory.run(get("/deadly"), cut("vault/GET /open"))
        )

    bystander, killer = run(run_both())

    assert bystander.verdict is Verdict.SURVIVED
    assert killer.verdict is Verdict.FAILED
    assert killer.dead == (shop.mortal.address,)
    assert run(laboratory.recovered())


# Many at once


def expected_of_wide(faults: frozenset[str]) -> Verdict:
    if "a" in faults or {"d", "e"} <= faults:
        return Verdict.FAILED
    if faults == {"e"}:  # called only when d has failed
        return Verdict.UNKNOWN
    return Verdict.DEGRADED if "c" in faults else Verdict.SURVIVED


def test_of_forty_experiments_at_once_each_gets_its_own_outcome(shop, run, audited):
    subsets = [frozenset(chosen) for size in (1, 2, 3) for chosen in combinations("abcdef", size)][:40]

    def at(letters: frozenset[str]) -> Points:
        return points(*(f"parts/GET /{letter}" for letter in letters))

    async def run_all() -> list[Outcome]:
        laboratory = await audited.laboratory(get("/wide"))
        cuts = [cut(*map(str, at(letters))) for letters in subsets]
        return await asyncio.gather(*(laboratory.run(get("/wide"), each) for each in cuts))

    outcomes = run(run_all())

    assert [outcome.verdict for outcome in outcomes] == [expected_of_wide(letters) for letters in subsets]
    assert Counter(outcome.verdict for outcome in outcomes)[Verdict.SURVIVED] > 5
    for letters, outcome in zip(subsets, outcomes, strict=True):
        assert points_of(outcome.cut) == at(letters)
        if outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED):
            called = frozenset("abcdf") | (frozenset("e") if "d" in letters else frozenset())
            assert outcome.calls == at(called)
            assert outcome.failed == at(letters & called)
            assert outcome.path == at(called - letters)
