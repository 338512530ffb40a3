"""Without a running system; with one, it is in `end_to_end/test_harden.py`."""

import asyncio
from pathlib import Path

import pytest
import yaml
from tests.samples.campaign import audited
from tests.samples.hardening import EVENTS, MESH, RATES, TRAFFIC, failed, fill

from cutset.app.harden import (
    Decided,
    TrialEvent,
    at_the_knee,
    conclude,
    decide,
    decided_on,
    exit_code,
    tried_hardening,
    try_out,
    write_manifests,
    write_markdown,
    write_page,
)
from cutset.app.harden_place import Steps
from cutset.app.harden_problem import HardenOptions
from cutset.app.mesh import mesh_file_of
from cutset.config.explore import load_config
from cutset.config.harden import ApiChoice, HardenChoice
from cutset.errors import TargetError, UsageError
from cutset.model.event import CampaignStarted
from cutset.model.fault import Fault
from cutset.model.hardening import (
    CallsObserved,
    CutRechecked,
    Effort,
    HardeningStarted,
    Latency,
    MeshChanged,
    MeshChanging,
)
from cutset.model.mesh import MeshService
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.run import Loop, RunFinished, RunStarted

EFFORTS = {"GET /": Effort(0.1, 2, 2), "POST /pay": Effort(0.1, 3, 3)}
CHANGING = MeshChanging(
    file=Path("/x/mesh.yaml"), original=Path("/x/mesh.yaml.before"), added=("cart.retries: 1",), kept=(), left_out=()
)


@pytest.fixture
def decided(tmp_path: Path) -> Decided:
    return decide(fill(tmp_path / "store"), "", HardenChoice(), HardenOptions(budget=1))


def rechecked(request: str, verdict: Verdict, *faults: str, gone: bool = True) -> CutRechecked:
    cut = frozenset(map(Fault.parse, faults))
    return CutRechecked(request=request, outcome=Outcome(cut, verdict), expected_gone=gone)


def trial(*events: TrialEvent) -> list[TrialEvent]:
    observed = CallsObserved(
        efforts=EFFORTS, latencies={Point("cart", "GetCart"): Latency(10, 0.1, 2, 2, 2)}, recovered={}
    )
    services = (MeshService("cart", "grpc", ("h:1", "h:2", "h:3"), retries=0),)
    return [
        RunStarted(loop=Loop.HARDENING, run="two", command="harden"),
        HardeningStarted(campaign="one", services=services),
        observed,
        *events,
        RunFinished(),
    ]


AGAIN: list[TrialEvent] = [
    RunStarted(loop=Loop.CAMPAIGN, run="three", command="explore", part_of="two"),
    CampaignStarted(requests=("GET /", "POST /pay"), max_size=3),
    audited("GET /"),
    failed("GET /", "ad/GetAds"),
    failed("GET /", "cart/GetCart", "cart-fallback/GetCart"),
    RunFinished(),
]


def test_a_decision_is_concluded_with_sites_frontier_and_odds(decided: Decided) -> None:
    found = conclude(decided, Steps())
    assert (found.campaign, found.level, found.objective) == ("one", "api", "coverage")
    assert [site.candidate.name for site in found.sites] == ["cart/GetCart"]
    assert found.sites[0].breaks == ("GET /", "POST /pay")
    assert [(point.budget, point.covered) for point in found.frontier.points] == [(0, 0), (1, 2), (2, 3), (3, 4)]
    assert (found.odds, found.change, found.verification, exit_code(found)) == (None, None, None, 0)


def test_odds_follow_from_rates(tmp_path: Path) -> None:
    apis = {api: ApiChoice(failure_rate=rate) for api, rate in RATES.items()}
    wishes = HardenChoice(apis=apis, traffic=TRAFFIC)
    found = conclude(decide(fill(tmp_path), "one", wishes, HardenOptions(budget=1)), Steps())
    assert found.odds is not None
    # cart and ads of GET /; cart, or payment with email, of POST /pay
    assert found.odds.failed_before == pytest.approx(1000 * (1 - 0.9999 * 0.8) + 10 * (1 - 0.9999 * 0.99))
    assert found.odds.failed_after == pytest.approx(1000 * 0.2 + 10 * 0.01)  # the cart is hardened
    assert found.odds.importances.ranked[0].name == "ad/GetAds"


def test_what_was_tried_is_concluded_from_its_events(decided: Decided) -> None:
    events = trial(
        CHANGING,
        MeshChanged(),
        CallsObserved(efforts=EFFORTS),
        rechecked("POST /pay", Verdict.SURVIVED, "cart/GetCart"),
        rechecked("GET /", Verdict.SURVIVED, "cart/GetCart"),
        *AGAIN,
    )
    found = conclude(decided, Steps(), events)
    assert found.change == CHANGING
    advised = {each.remedy: each.settings for each in found.sites[0].advice}
    assert advised["timeout"] == {"timeout_seconds": 6.0}  # as observed
    assert advised["retry"]["retries"] == 2  # as the mesh was before
    assert found.verification is not None
    assert [each.request for each in found.verification.rechecks] == ["GET /", "POST /pay"]
    assert [len(each.cut) for each in found.verification.grown_cuts] == [2]
    assert (found.verification.new_cuts, found.verification.explored) == ((), True)
    assert found.replay.startswith("cutset explore --store ")
    assert exit_code(found) == 0


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([rechecked("GET /", Verdict.FAILED, "cart/GetCart")], 1),
        ([rechecked("GET /", Verdict.FAILED, "cart/GetCart", gone=False)], 0),
        ([rechecked("GET /", Verdict.UNKNOWN, "cart/GetCart")], 3),
        (
            [
                rechecked("GET /", Verdict.SURVIVED, "cart/GetCart"),
                *AGAIN[:2],
                failed("GET /", "cart-fallback/GetCart"),
                RunFinished(),
            ],
            1,
        ),
    ],
)
def test_the_exit_code_tells_whether_it_helped(decided: Decided, events: list[TrialEvent], code: int) -> None:
    assert exit_code(conclude(decided, Steps(), trial(*events))) == code


def test_a_mesh_that_stays_as_it_is_tells_what_it_does_already(decided: Decided, tmp_path: Path) -> None:
    (tmp_path / "mesh.yaml").write_text(MESH)
    found = conclude(decided, Steps(mesh_file=tmp_path / "mesh.yaml"))
    assert "retry" in {each.remedy for each in found.sites[0].declined}  # two replicas: the mesh retries already
    (file,) = write_manifests(found, tmp_path / "k8s")
    assert yaml.safe_load(file.read_text())["kind"] == "DestinationRule"


def test_the_mesh_is_found_in_the_configuration_or_beside_it(tmp_path: Path) -> None:
    config = tmp_path / "cutset.yaml"
    assert mesh_file_of(config) is None
    config.write_text("requests: []\n")
    (tmp_path / "mesh.yaml").write_text(MESH)
    assert mesh_file_of(config) == tmp_path / "mesh.yaml"
    config.write_text("mesh: {}\n")
    assert mesh_file_of(config) == config


def test_without_findings_there_is_nothing_to_harden(tmp_path: Path) -> None:
    store = fill(tmp_path, [*EVENTS[:2], audited("GET /")])
    with pytest.raises(UsageError, match="nothing to harden"):
        decide(store, "", HardenChoice(), HardenOptions())


def test_trying_needs_a_configuration_of_the_same_requests_and_resuming_the_same_choice(
    decided: Decided, tmp_path: Path
) -> None:
    file = tmp_path / "cutset.yaml"

    def tried(changed: Decided, *paths: str, resume: bool = False) -> None:
        requests = [{"path": path, "method": method} for method, path in map(str.split, paths)]
        file.write_text(yaml.safe_dump({"requests": requests, "target": {"url": "http://127.0.0.1:1"}}))

        async def consume() -> None:
            async for _ in try_out(changed, Steps(verify=True), load_config(file), key=b"x", resume=resume):
                return

        asyncio.run(consume())

    with pytest.raises(UsageError, match="explored `POST /pay`, which the configuration does not have"):
        tried(decided, "GET /")
    with pytest.raises(UsageError, match="no unfinished hardening to resume"):
        tried(decided, "GET /", "POST /pay", resume=True)
    tried(decided, "GET /", "POST /pay")  # it has begun, and was left
    tried(decided, "GET /", "POST /pay", resume=True)
    other = decided_on(decided.posed.within(2))
    with pytest.raises(UsageError, match="begun with other options, so"):
        tried(other, "GET /", "POST /pay", resume=True)


def test_files_of_it_are_written_wherever_they_are_wanted(decided: Decided, tmp_path: Path) -> None:
    found = conclude(decided, Steps())
    write_page(tmp_path / "new" / "harden.html", found, at_the_knee(decided, Steps()))
    write_markdown(tmp_path / "new" / "harden.md", found)
    assert "Harden 1 of 4 APIs: 2 of 4 cuts gone, proven best" in (tmp_path / "new" / "harden.html").read_text()
    assert (tmp_path / "new" / "harden.md").read_text().startswith("### Harden 1 of 4 APIs")
    with pytest.raises(TargetError, match="Cannot write"):
        write_page(tmp_path / "new" / "harden.html" / "below", found)


def test_the_knee_is_a_decision_of_its_own(tmp_path: Path) -> None:
    wide = decide(fill(tmp_path / "store"), "", HardenChoice(), HardenOptions(budget=3))
    knee = at_the_knee(wide, Steps())
    assert (knee.decision.choice.budget, [site.candidate.name for site in knee.sites]) == (1, ["cart/GetCart"])


def test_a_recorded_hardening_tells_what_became_of_it_without_the_decision(decided: Decided) -> None:
    events = trial(CHANGING, MeshChanged(), rechecked("GET /", Verdict.SURVIVED, "cart/GetCart"))
    found = tried_hardening(events, decided.grounds.campaign, None, decided.grounds.store)
    assert found.change == CHANGING
    assert found.undo == "cp /x/mesh.yaml.before /x/mesh.yaml"
    assert found.verification is not None
    assert not found.verification.explored
