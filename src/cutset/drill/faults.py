"""Which faults make sense at an endpoint: what the agent's hook of its framework can do, and a few to begin with."""

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from cutset.errors import UsageError
from cutset_agent.hooks import library

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


def faults_at(endpoint: str, *, writes: bool, chosen: Collection[str] = ()) -> tuple[str, ...]:
    """Of those chosen, or of the default ones, those that exist there. The answer to a read may be lost at no loss."""
    known = library.faults_at(endpoint)
    wanted = tuple(sorted(chosen)) or next(
        (faults for pattern, faults in DEFAULTS if fnmatchcase(endpoint, pattern)), ()
    )
    return tuple(fault for fault in wanted if fault in known and (writes or chosen or fault != "lost-answer"))


def check_faults(chosen: Collection[str], endpoints: Collection[str]) -> None:
    known = {fault for endpoint in endpoints for fault in library.faults_at(endpoint)}
    if unknown := sorted(set(chosen) - known):
        raise UsageError(
            f"No point of the recording has the fault `{unknown[0]}`",
            hint=f"Known there: {', '.join(sorted(known)) or 'none'}. `cutset faults` lists all",
        )
