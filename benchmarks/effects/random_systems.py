"""Random systems whose callers treat five effects differently, held against brute force over all sets of two faults.

    python -m benchmarks.effects random_systems [--quick]

`misses` and `non_minimal` are those of the certificates that promise none, exact and independent; `misses_classes` is
the share of all cuts that `classes` lose. `mixed_cuts` have several effects: no number of campaigns with one effect
finds them. `experiments_vs_separate` compares one campaign over three effects with three campaigns of one effect each,
which take independent certificates and find no mixed cut. `mean_rounds` are of the default, with one effect and cuts of
up to three, since LDFI knows no others.
"""

import sys
from collections import Counter
from multiprocessing import Pool

from cutset.model.effect import Effect, EffectChoice
from cutset.model.fault import Cut
from cutset.search.cuts import CutSearch
from cutset.search.ldfi import Ldfi
from cutset.search.strategy import Certificates, Search, SearchSettings
from cutset.simulation.drive import SearchCost, drive
from cutset.simulation.program_laboratory import ProgramLaboratory
from cutset.simulation.program_truth import Does, minimal_sets
from cutset.simulation.programs import GARBLED, REFUSED, RequestProgram
from cutset.simulation.random_programs import STATUSES, Taste, random_request

FIVE = EffectChoice(
    tuple(map(Effect.parse, ("abort(503)", "delay(100ms)", "connection-refused", "garbled", "abort(503),attempts=1")))
)
THREE = EffectChoice(FIVE.usual[:3])
SIZE = 2
TOLD_APART = (*STATUSES, REFUSED, GARBLED)
TASTES = (
    Taste("some callers tell effects apart", (6, 10), retried=0.3, statuses=TOLD_APART, by_agents=True),
    Taste("most do", (6, 10), by_status=0.7, retried=0.3, statuses=TOLD_APART, by_agents=True),
    Taste("much is optional", (6, 9), optional=0.6, retried=0.3, statuses=TOLD_APART, by_agents=True),
    Taste("tight limits", (6, 9), limited=0.7, retried=0.3, statuses=TOLD_APART, by_agents=True),
    Taste("shared APIs", (6, 9), shared=0.3, retried=0.3, statuses=TOLD_APART, by_agents=True),
)
SYSTEMS_EACH = 220  # of each taste, with five effects
COMPARED = 400  # systems of three effects
PROMISE = (Certificates.EXACT, Certificates.INDEPENDENT)


def explored(request: RequestProgram, search: Search) -> tuple[set[Cut], SearchCost]:
    cost = drive(search, ProgramLaboratory(request))
    return set(search.result().minimal_cuts), cost


def is_mixed(cut: Cut) -> bool:
    return len({fault.effect for fault in cut}) > 1


def judged(task: tuple[Taste, int]) -> Counter[str]:
    """With five effects, by all kinds of certificates."""
    taste, number = task
    request = random_request(f"{taste.name} {number}", taste)
    truth = minimal_sets(request, SIZE, FIVE)[Does.FAIL]
    mixed = set(filter(is_mixed, truth))
    seen: Counter[str] = Counter(random_systems=1, cuts=len(truth), mixed_cuts=len(mixed))
    for kind in Certificates:
        found, cost = explored(request, CutSearch(SearchSettings(SIZE, kind, FIVE)))
        missed, wrong = len(truth - found), len(found - truth)
        seen[f"rounds {kind}"] += cost.rounds
        seen[f"experiments {kind}"] += cost.injections
        if kind is Certificates.EXACT:
            seen["mixed_cuts_found"] += len(mixed & found)
        if kind in PROMISE:
            seen.update(misses=missed, non_minimal=wrong)
        else:
            seen["misses classes"] += missed
        if missed or wrong:
            print(f"{taste.name} {number}, {kind}: {missed} missed, {wrong} not minimal", file=sys.stderr)
    return seen


def compared(number: int) -> Counter[str]:
    """With three effects: one campaign, and three."""
    request = random_request(f"compared {number}", TASTES[0])
    seen: Counter[str] = Counter()
    for kind in Certificates:
        seen[f"joint {kind}"] += explored(request, CutSearch(SearchSettings(SIZE, kind, THREE)))[1].injections
    for effect in THREE.usual:
        alone = SearchSettings(SIZE, Certificates.INDEPENDENT, EffectChoice((effect,)))
        seen["separate"] += explored(request, CutSearch(alone))[1].injections
    one = SearchSettings(3, effects=EffectChoice(THREE.usual[:1]))
    seen["rounds"] += explored(request, CutSearch(one))[1].rounds
    seen["rounds ldfi"] += explored(request, Ldfi(one))[1].rounds
    return seen


def measure(*, quick: bool) -> dict[str, object]:
    tasks = [(taste, number) for taste in TASTES for number in range(SYSTEMS_EACH // 20 if quick else SYSTEMS_EACH)]
    pairs = COMPARED // 20 if quick else COMPARED
    found: Counter[str] = Counter()
    with Pool(2) as pool:
        for done, each in enumerate(pool.imap_unordered(judged, tasks, chunksize=4), start=1):
            found.update(each)
            if done % 200 == 0:
                print(f"{done} of {len(tasks)} systems", file=sys.stderr)
        for each in pool.imap_unordered(compared, range(pairs), chunksize=4):
            found.update(each)
    counted = ("random_systems", "cuts", "misses", "non_minimal", "mixed_cuts", "mixed_cuts_found")
    return {name: found[name] for name in counted} | {
        "misses_classes": round(found["misses classes"] / found["cuts"], 5),
        "experiments_vs_separate": {
            kind.value: round(found[f"joint {kind}"] / found["separate"], 2) for kind in Certificates
        },
        "experiments_with_five_effects": {
            kind.value: round(found[f"experiments {kind}"] / len(tasks), 1) for kind in Certificates
        },
        "rounds_with_five_effects": {
            kind.value: round(found[f"rounds {kind}"] / len(tasks), 2) for kind in Certificates
        },
        "mean_rounds": round(found["rounds"] / pairs, 2),
        "mean_rounds_ldfi": round(found["rounds ldfi"] / pairs, 2),
    }
