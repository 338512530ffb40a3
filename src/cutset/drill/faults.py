"""Which faults make sense at an endpoint: what the agent's hook of its framework can do, and a few to begin with."""

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module

from cutset.errors import UsageError
from cutset_agent import hooks

# What stands for most: the part is not there, it does not answer, it did the work but nobody hears of it. The first
# pattern that fits an endpoint counts.
DEFAULTS: Sequence[tuple[str, tuple[str, ...]]] = (
    ("db/*/connect", ("connection-refused", "no-answer")),
    ("db/*/getconn", ("pool-exhausted",)),
    ("db/*/acquire", ("pool-exhausted",)),
    ("db/*/commit", ("connection-lost", "serialization-failure", "lost-answer")),
    ("db/*", ("connection-lost", "no-answer", "deadlock", "lost-answer")),
    ("cache/*", ("connection-refused", "no-answer")),
    ("mq/*/handle", ("serialization",)),
    ("mq/*/request", ("broker-unavailable", "connection-lost", "no-answer")),
    ("mq/*", ("broker-unavailable", "connection-lost")),
    ("rpc/grpc/*", ("unavailable", "no-answer")),
    ("rpc/*", ("connection-refused", "no-answer", "status-503")),
)
# Frameworks that have no hook of their own: which one has theirs, and where.
_HOOKED_BY = {"requests": ("urllib3", "FAULTS"), "psycopg_pool": ("psycopg", "POOL_FAULTS")}


def faults_at(endpoint: str, *, writes: bool, chosen: Collection[str] = ()) -> tuple[str, ...]:
    """Of those chosen, or of the default ones, those that exist there. The answer to a read may be lost at no loss."""
    known = faults_of(endpoint.split("/")[1])
    wanted = tuple(sorted(chosen)) or next(
        (faults for pattern, faults in DEFAULTS if fnmatchcase(endpoint, pattern)), ()
    )
    return tuple(fault for fault in wanted if fault in known and (writes or chosen or fault != "lost-answer"))


@cache
def faults_of(framework: str) -> frozenset[str]:
    """All faults that the agent knows for a framework, those of other packages included; none if it has no hook."""
    found: set[str] = set()
    hook, faults = _HOOKED_BY.get(framework, (framework, "FAULTS"))
    if hook in hooks.HOOKS:
        found |= set(getattr(import_module(hooks.HOOKS[hook]), faults))
    for name, load in hooks.third_parties():
        if name == framework:
            found |= set(load().FAULTS)
    return frozenset(found)


def check_faults(chosen: Collection[str], frameworks: Collection[str]) -> None:
    known = {fault for framework in frameworks for fault in faults_of(framework)}
    if unknown := sorted(set(chosen) - known):
        raise UsageError(
            f"No point of the recording has the fault `{unknown[0]}`",
            hint=f"Known there: {', '.join(sorted(known)) or 'none'}. `cutset faults` lists all",
        )
