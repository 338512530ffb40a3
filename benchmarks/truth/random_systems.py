"""Reports on random systems of every kind that defeated one, held against brute force over all sets up to a size.

    python -m benchmarks.truth.random_systems [--quick]        ends with one JSON line

A request is explored as a campaign does it, and what it then claims is compared with what is true: `false_complete` are
failing sets of at most the size up to which it says that it is complete, and that it does not name; `non_minimal`,
findings that are said to be minimal and are not; `missed_degradations`, sets within that size that change the
answer and are not named. `exact_equals_bound` is the share of systems in which the default takes as many experiments as
any correct method needs (docs/explanation/proof.md).
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import Pool

from benchmarks.fastfi_tables import TABLE_5, system_of
from benchmarks.truth.topic import run_alone

from cutset.campaign.class_search import ClassSearch
from cutset.campaign.settings import CampaignSettings, Limits
from cutset.model.effect import Effect, EffectChoice, EffectKind
from cutset.model.event import ExperimentFinished
from cutset.model.fault import Cut
from cutset.model.finding import degradations_of, findings_of
from cutset.model.request import Request, Step
from cutset.search.cuts import CutSearch
from cutset.search.strategy import Certificates, SearchSettings
from cutset.simulation.drive import drive
from cutset.simulation.program_laboratory import Bother, ProgramLaboratory
from cutset.simulation.program_truth import Does, minimal_sets, plans
from cutset.simulation.programs import DELAY_MS, RequestProgram, points_in, run_of
from cutset.simulation.random_programs import Taste, random_request
from cutset.simulation.simulated import Conditions, Simulation, all_points

MAX_SIZE = 3
KINDS_OF_PROOF = (Certificates.EXACT, Certificates.INDEPENDENT)  # with one effect, `classes` are the latter
REQUEST = Request("request", Step("GET", "/"))


@dataclass(frozen=True, slots=True)
class Kind:
    systems: int
    taste: Taste
    bother: Bother = field(default_factory=Bother)
    effects: EffectChoice = field(default_factory=EffectChoice)

    @property
    def is_plain(self) -> bool:
        """One experiment is one run, so that the least number of experiments is known."""
        bother = self.bother
        return bother.tries == bother.repeats == 1 and not bother.lost_spans and not self.taste.replicated


KINDS = (
    Kind(700, Taste("callers that tell statuses apart")),
    Kind(200, Taste("many statuses", by_status=0.7)),
    Kind(150, Taste("much that is optional", optional=0.6)),
    Kind(150, Taste("APIs called from several places", shared=0.3)),
    Kind(200, Taste("delays"), effects=EffectChoice((Effect(EffectKind.DELAY, DELAY_MS),))),
    Kind(100, Taste("values that differ", adding=1.0, optional=0.5, fallback=0.4)),
    Kind(100, Taste("past the mesh", past_mesh=0.15)),
    Kind(150, Taste("replicas with failover", points=(6, 9), replicated=0.4, failover=1.0), Bother(tries=2)),
    Kind(100, Taste("plain balancing", points=(6, 9), replicated=0.4, failover=0.3), Bother(tries=2)),
    Kind(100, Taste("caches", points=(5, 9), cached=0.25), Bother(tries=40)),
    Kind(150, Taste("lost spans"), Bother(lost_spans=0.3)),
    Kind(100, Taste("flaky answers"), Bother(flakes=0.1, repeats=8)),
)


@dataclass(frozen=True, slots=True)
class Explored:
    """What a campaign says of one request, by one kind of certificates."""

    findings: frozenset[Cut]
    degradations: frozenset[Cut]
    complete_up_to: int
    exact_up_to: int
    injections: int


def explored(request: RequestProgram, kind: Kind, certificates: Certificates) -> Explored:
    laboratory = ProgramLaboratory(request, kind.bother)
    settings = CampaignSettings(limits=Limits(max_size=MAX_SIZE))
    inventory = points_in(request) if kind.bother.tries > 1 else frozenset()
    start = SearchSettings(MAX_SIZE, certificates, kind.effects, inventory)
    search = ClassSearch(REQUEST, CutSearch(start), settings, [laboratory.run(frozenset())], 0)
    events: list[ExperimentFinished] = []
    while cuts := search.ask(1000):
        for cut in cuts:
            outcome = laboratory.run(cut)
            events.append(ExperimentFinished(request=REQUEST.name, outcome=outcome))
            search.learn(outcome)
    end = search.end()
    return Explored(
        frozenset(each.cut for each in findings_of(events) if len(each.cut) <= MAX_SIZE),
        frozenset(each.cut for each in degradations_of(events)),
        end.complete_up_to,
        end.exact_up_to,
        sum(bool(event.outcome.cut) for event in events),
    )


def least_experiments(request: RequestProgram, failing: set[Cut], effects: EffectChoice) -> int:
    """Sets in which all faults fire, and no proper part fails: each needs an experiment of its own."""
    needed = 0
    for size in range(1, MAX_SIZE + 1):
        for chosen in plans(request, effects, size):
            if not any(known < chosen for known in failing):
                needed += len(run_of(request, chosen)[1].fired) == size
    return needed


def judged(task: tuple[Kind, int]) -> Counter[str]:
    kind, number = task
    request = random_request(f"{kind.taste.name} {number}", kind.taste)
    truth = minimal_sets(request, MAX_SIZE, kind.effects)
    found: Counter[str] = Counter(random_systems=1)
    for certificates in KINDS_OF_PROOF:
        seen = explored(request, kind, certificates)
        wrong = _wrong(seen, truth)
        found.update(wrong)
        if wrong:
            print(f"{kind.taste.name} {number}, {certificates}: {dict(wrong)}", file=sys.stderr)
        if kind.is_plain:
            found[f"injections {certificates}"] += seen.injections
            if certificates is Certificates.EXACT:
                bound = least_experiments(request, truth[Does.FAIL], kind.effects)
                found["bounded"] += 1
                found["at the bound"] += seen.injections == bound
        found[f"complete {certificates}"] += seen.complete_up_to == MAX_SIZE
    return found


def _wrong(seen: Explored, truth: dict[Does, set[Cut]]) -> Counter[str]:
    size = seen.complete_up_to
    minimal = {cut for cut in seen.findings if len(cut) <= size + 1}
    missed = {cut for cut in truth[Does.DEGRADE] if len(cut) <= min(size, seen.exact_up_to)}
    wrong = Counter(
        false_complete=len({cut for cut in truth[Does.FAIL] if len(cut) <= size} - seen.findings),
        non_minimal=len(minimal - truth[Does.FAIL]),
        missed_degradations=len(missed - seen.degradations),
    )
    return +wrong


def injections_on_table_5(certificates: Certificates) -> int:
    total = 0
    for row in TABLE_5:
        system = system_of(row)
        search = CutSearch(SearchSettings(row.replicas, certificates, inventory=all_points(system)))
        total += drive(search, Simulation(system, Conditions(seed=1))).injections
    return total


def measure(*, quick: bool) -> dict[str, object]:
    tasks = [(kind, number) for kind in KINDS for number in range(kind.systems // 20 if quick else kind.systems)]
    found: Counter[str] = Counter()
    with Pool(2) as pool:
        for done, each in enumerate(pool.imap_unordered(judged, tasks, chunksize=8), start=1):
            found.update(each)
            if done % 200 == 0:
                print(f"{done} of {len(tasks)} systems", file=sys.stderr)
        table = dict(zip(KINDS_OF_PROOF, pool.map(injections_on_table_5, KINDS_OF_PROOF), strict=True))
    return _figures(found, table)


def _figures(found: Counter[str], table: dict[Certificates, int]) -> dict[str, object]:
    exact, independent = (found[f"injections {each}"] for each in KINDS_OF_PROOF)
    wrong: Sequence[str] = ("random_systems", "false_complete", "non_minimal", "missed_degradations")
    return {name: found[name] for name in wrong} | {
        "exact_equals_bound": round(found["at the bound"] / found["bounded"], 4),
        "exact_experiments": exact,
        "independent_experiments": independent,
        "independent_vs_exact": round(independent / exact, 3),
        "systems_said_complete": found[f"complete {Certificates.EXACT}"],
        "injections_total": table[Certificates.EXACT],
        "injections_independent": table[Certificates.INDEPENDENT],
    }


if __name__ == "__main__":
    run_alone(measure, __doc__)
