"""What a fault did to the requests that it hit (CAST §3.5.2, and what its case studies found): symptoms by name.

Two assertion levels: the answer at the entry, and the calls at the endpoints behind it, so that a publish that fails
behind a 200 is seen. Everything is held against the start-up phase of the same drill. What happens in a few runs of
many may be chance: it makes a drill undecided, not failed.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from cutset.judge.shares import share
from cutset.judge.writes import DONE_ALTHOUGH_FAILED, is_kept, is_write, took_effect
from cutset.model.drill import DrillFinding, DrillTest, ObservedOperation, Sample, Symptom, Thresholds
from cutset.model.writing import SQL_WRITES

CHANCE = 0.02  # the share of runs in which anything may be seen without meaning anything
FEWEST = 2  # runs that show a symptom: one may be chance, however few there are
ALWAYS = 0.7  # of the lower bound of a share: 10 of 10 runs are enough
TRACES_SHOWN = 3
FIELDS_SHOWN = 3
JSON_LIMIT = 256 * 1024  # bytes of an answer that are compared field by field
DELIVERED_TWICE = "duplicate-message"

_CLASHES = re.compile(r"\bON\s+(CONFLICT|DUPLICATE)\b|\bIGNORE\b|\bNOT\s+EXISTS\b", re.IGNORECASE)
_RELATIVE = re.compile(r"\bSET\b.*?\b(\w+)\"?\s*=\s*[\w.\"]*\b\1\b\"?\s*[-+*/|]", re.IGNORECASE | re.DOTALL)
# How an honest answer says that it is not the usual one.
_DECLARES = re.compile(
    r"(^|[._-])(degraded|fallback|stale|partial|source|origin|from|cached?|warnings?|notes?|message|status|state|via)$",
    re.IGNORECASE,
)
_MISSING: tuple[object, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class Symptoms:
    findings: tuple[DrillFinding, ...] = ()
    undecided: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


Key = TypeVar("Key", str, tuple[str, str])
Told = str  # what one run shows, in words; empty: nothing


def hits(test: DrillTest, startup: Sequence[Sample], faulty: Sequence[Sample]) -> list[Sample]:
    """The runs of the fault phase that the fault hit.

    The agent reports a call when it ends. One that never does, because no answer comes or its code tries again without
    end, is known by its absence from requests that did not go well, if without the fault it is always there.
    """
    if any(sample.fired(test.fault) for sample in faulty):
        return [sample for sample in faulty if sample.fired(test.fault) or not sample.status]
    called = {id(sample) for sample in (*startup, *faulty) if any(map(test.is_at, sample.operations))}
    always = share(sum(id(sample) in called for sample in startup), len(startup)).low >= ALWAYS
    unended = [sample for sample in faulty if not sample.ok and id(sample) not in called]
    return unended if always and len(unended) >= FEWEST else []


def has_call(sample: Sample, endpoint: str) -> bool:
    return any(operation.endpoint == endpoint for operation in sample.operations)


def symptoms_of(test: DrillTest, startup: Sequence[Sample], hit: Sequence[Sample], thresholds: Thresholds) -> Symptoms:
    """`hit` are the runs that the fault hit."""
    usual = _Usual.of(startup)
    looks: Sequence[tuple[Symptom, str, Callable[[Sample], Told]]] = (
        (Symptom.HANG, "entry", lambda sample: _hang(sample, thresholds)),
        (Symptom.NOT_SURVIVED, "entry", lambda sample: _not_survived(sample, test, thresholds)),
        (Symptom.SILENT_LOSS, test.place, lambda sample: _silent_loss(sample, test, usual)),
        (Symptom.DUPLICATE, test.place, lambda sample: _duplicate(sample, test, usual)),
        (Symptom.AMPLIFICATION, test.place, lambda sample: _amplification(sample, test, usual, thresholds)),
        (Symptom.WRONG_DATA, "entry", lambda sample: _differences(sample, usual)[0]),
    )
    findings, undecided = [], []
    for symptom, level, look in looks:
        told = [(text, sample.trace_id) for sample in hit if (text := look(sample))]
        seen = share(len(told), len(hit))
        if len(told) >= FEWEST and seen.low > CHANCE:
            what = f"{told[0][0]}; so in {seen} requests that the fault hit"
            findings.append(DrillFinding(symptom, level, what, tuple(trace for _, trace in told[:TRACES_SHOWN])))
        elif told:
            undecided.append(f"{symptom} in {seen} requests, which may be chance: {told[0][0]}")
    return Symptoms(tuple(findings), tuple(undecided), tuple(_notes(hit, usual)))


@dataclass(frozen=True, slots=True)
class _Usual:
    """What runs without a fault have in common."""

    constants: Mapping[str, object]  # JSON path -> value; "" stands for the whole of a body that is no JSON
    paths: frozenset[str]  # in every answer
    most: Mapping[str, int]  # calls per run at each endpoint
    most_writes: Mapping[tuple[str, str], int]  # … of writes that took effect, by endpoint and verb
    writes: frozenset[tuple[str, int]]  # endpoint and occurrence of calls that change something
    verbs: Mapping[tuple[str, int], str]  # of databases, by endpoint and occurrence
    commits: bool  # the service ends transactions by a call of their own

    @classmethod
    def of(cls, startup: Sequence[Sample]) -> "_Usual":
        good = [sample for sample in startup if sample.ok]
        bodies = [_leaves(sample) for sample in good]
        paths = frozenset.intersection(*map(frozenset, bodies)) if bodies else frozenset()
        constants = {path: bodies[0][path] for path in paths if all(body[path] == bodies[0][path] for body in bodies)}
        every = [operation for sample in good for operation in sample.operations]
        commits = any(operation.endpoint.endswith("/commit") for operation in every)
        return cls(
            constants,
            paths,
            _largest(Counter(operation.endpoint for operation in sample.operations) for sample in good),
            _largest(took_effect(sample.operations, {}, commits=commits) for sample in good),
            frozenset((operation.endpoint, operation.occurrence) for operation in every if is_write(operation)),
            {(operation.endpoint, operation.occurrence): operation.facts.get("verb", "") for operation in every},
            commits,
        )

    def effective_writes(self, sample: Sample) -> Counter[tuple[str, str]]:
        return took_effect(sample.operations, self.verbs, commits=self.commits)


def _hang(sample: Sample, thresholds: Thresholds) -> Told:
    limit = thresholds.limit_for()
    if sample.seconds < limit:
        return ""
    answer = f"the answer came after {sample.seconds:.1f} s" if sample.status else "no answer came"
    return f"{answer} (limit {limit:g} s)"


def _not_survived(sample: Sample, test: DrillTest, thresholds: Thresholds) -> Told:
    if sample.ok or _hang(sample, thresholds):
        return ""
    if not sample.status:
        return f"the request ended without an answer: {sample.error}"
    if test.component in thresholds.must_survive and not is_kept(test.endpoint):
        return f"a {test.component} that fails took the request down: status {sample.status} (`must_survive`)"
    return ""


def _silent_loss(sample: Sample, test: DrillTest, usual: _Usual) -> Told:
    """Behind a good answer, a write that failed and that nothing made up for."""
    if (
        not sample.ok
        or test.fault == DONE_ALTHOUGH_FAILED
        or (test.component == "cache" and not is_kept(test.endpoint))
    ):
        return ""
    lost = [
        operation
        for operation in sample.operations
        if test.fault in operation.fault.split("+")
        and operation.failed
        and (operation.endpoint, operation.occurrence) in usual.writes
        and not _repeated(operation, sample.operations)
    ]
    if not lost or _made_up_for(sample, usual):
        return ""
    return f"status {sample.status}, although {lost[-1].endpoint} failed and was neither repeated nor made up for"


def _repeated(lost: ObservedOperation, operations: Iterable[ObservedOperation]) -> bool:
    return any(
        later.endpoint == lost.endpoint
        and later.started_at >= lost.started_at
        and not later.failed
        and (later.payload == lost.payload or not (later.payload and lost.payload))
        for later in operations
        if later is not lost
    )


def _made_up_for(sample: Sample, usual: _Usual) -> bool:
    """By a write that runs without a fault do not make: into an outbox, to a second broker."""
    return any(count > usual.most_writes.get(key, 0) for key, count in usual.effective_writes(sample).items())


def _duplicate(sample: Sample, test: DrillTest, usual: _Usual) -> Told:
    """Only in databases: brokers deliver at least once anyway, and what others do with a repetition is unknown."""
    may_double = test.component == "db" or test.fault == DELIVERED_TWICE
    if not may_double or test.repeatable:
        return ""
    for (endpoint, verb), count in usual.effective_writes(sample).items():
        normal = usual.most_writes.get((endpoint, verb), 0)
        if endpoint.startswith("db/") and verb in ("INSERT", "UPDATE") and 0 < normal < count:
            if verb == "UPDATE" and test.repeatable is None:
                continue  # most set a value, and may be repeated
            return f"{verb} took effect {count} times in one request, {normal} times without the fault"
    return ""


def is_repeatable(statement: str) -> bool:
    """Whether a second time changes nothing more, as far as its text says."""
    words = statement.split(maxsplit=1)
    verb = words[0].strip("({\"'").upper() if words else ""
    if verb == "INSERT":
        return _CLASHES.search(statement) is not None
    return verb in SQL_WRITES and _RELATIVE.search(statement) is None


def _amplification(sample: Sample, test: DrillTest, usual: _Usual, thresholds: Thresholds) -> Told:
    # By the agent's count, not by the spans: of thousands some are dropped.
    calls = max((each.occurrence for each in sample.operations if each.endpoint == test.endpoint), default=0)
    normal = usual.most.get(test.endpoint, 0)
    if calls <= max(thresholds.amplification_floor, thresholds.amplification_factor * normal):
        return ""
    return f"{calls} calls in one request, {normal} without the fault"


def _notes(hit: Sequence[Sample], usual: _Usual) -> Iterable[str]:
    degraded = [text for sample in hit if (text := _differences(sample, usual)[1])]
    if degraded:
        yield f"degraded answers in {share(len(degraded), len(hit))}: {degraded[0]}"
    refused = Counter(sample.status for sample in hit if not sample.ok and sample.status)
    if refused:
        statuses = ", ".join(f"{status} ({count} times)" for status, count in refused.most_common(3))
        yield f"requests that the fault hit were answered {statuses}"


def _differences(sample: Sample, usual: _Usual) -> tuple[Told, Told]:
    """Wrong values, and what is missing or declared to be different, in an answer that says that all is well."""
    if not sample.ok:
        return "", ""
    found = _leaves(sample)
    missing = [path for path in sorted(usual.paths) if found.get(path) in _MISSING and usual.constants.get(path, 1)]
    differing = [
        path
        for path, value in sorted(usual.constants.items())
        if path in found and found[path] != value and found[path] not in _MISSING
    ]
    declared = [path for path in found if _DECLARES.search(path) and found[path] != usual.constants.get(path, ...)]
    if differing and not declared:
        shown = ", ".join(
            f"{path or 'the body'} is {_short(found[path])} instead of {_short(usual.constants[path])}"
            for path in differing[:FIELDS_SHOWN]
        )
        return f"status {sample.status}, but {shown}", ""
    noted = [f"{path or 'the body'} is missing or empty" for path in missing] + [f"{path} differs" for path in declared]
    return "", ", ".join(noted[:FIELDS_SHOWN]) if missing or differing else ""


def _leaves(sample: Sample) -> dict[str, object]:
    """The values of an answer by their paths. Lists are values: their order and length are part of what is said."""
    if "json" not in sample.content_type.lower() or len(sample.body) > JSON_LIMIT:
        # Pages hold times, tokens and advertisements; only plain text is what it says.
        return {"": sample.body} if sample.content_type.lower().startswith("text/plain") else {}
    try:
        document = json.loads(sample.body)
    except (ValueError, RecursionError):
        return {"": None}
    leaves: dict[str, object] = {}
    to_visit: list[tuple[str, object]] = [("", document)]
    while to_visit:
        path, value = to_visit.pop()
        if isinstance(value, dict) and value:
            to_visit.extend((f"{path}.{key}" if path else str(key), child) for key, child in value.items())
        else:
            leaves[path] = value
    return leaves


def _short(value: object) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _largest(counters: Iterable[Counter[Key]]) -> dict[Key, int]:
    largest: dict[Key, int] = {}
    for counter in counters:
        for key, count in counter.items():
            largest[key] = max(count, largest.get(key, 0))
    return largest
