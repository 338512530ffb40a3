"""What `cutset ingest --follow` does: keep up with what collectors write, until it is told to end."""

import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Event

from cutset.errors import UsageError
from cutset.model.survey import Ingested, Unread
from cutset.store.spans import begin_ingest
from cutset.survey.follow import Endless, Followed, FollowSettings, follow
from cutset.traces.files.find import STDIN
from cutset.traces.files.growing import DELETED_UNREAD, NOT_FOLLOWED, GrowingFiles
from cutset.traces.kafka import DELETED_UNREAD as MESSAGE_DELETED_UNREAD
from cutset.traces.kafka import KafkaTopic, is_kafka
from cutset.traces.servers.address import is_server
from cutset.traces.tally import ReadTally

_NOT_ALL_READ = (NOT_FOLLOWED, DELETED_UNREAD, MESSAGE_DELETED_UNREAD)


def follow_traces(
    store: Path,
    sources: Sequence[str],
    ended: Event,
    settings: FollowSettings = FollowSettings(),  # noqa: B008 -- it is frozen
) -> Generator[Followed, None, Ingested]:
    """Sources are files, folders and globs, of which there may be none yet, and topics, as `kafka://host:9092/topic`.

    Ends, with all committed, after `ended`.
    """
    started, tally = time.monotonic(), ReadTally()
    files = [source for source in sources if not is_kafka(source)]
    for source in files:
        _ensure_can_be_followed(source)
    last = Followed(0, 0, 0, 0, 0)
    with ExitStack() as stack:
        topics = [KafkaTopic(source, tally) for source in sources if is_kafka(source)]
        for topic in topics:
            stack.callback(topic.close)
        endless: list[Endless] = [GrowingFiles(files, tally), *topics]
        ingest = stack.enter_context(begin_ingest(store))
        for last in follow(endless, ingest, tally, ended, settings, name=" ".join(sources)):
            yield last
    return Ingested(
        last.sources,
        tally.spans,
        last.new,
        last.forgotten,
        tuple(Unread(reason, times, tally.first_at[reason]) for reason, times in tally.skipped.most_common()),
        tuple(f"{reason}: {tally.first_at[reason]}" for reason in _NOT_ALL_READ if reason in tally.skipped),
        time.monotonic() - started,
    )


def _ensure_can_be_followed(source: str) -> None:
    if not source or Path(source) == STDIN or is_server(source):
        raise UsageError(
            f"`{source}` cannot be followed",
            hint="Follow files, folders, globs or topics; read a server now and then, without `--follow`",
        )
    if not any(sign in source for sign in "*?[") and not Path(source).parent.is_dir():
        raise UsageError(
            f"There is no folder `{Path(source).parent}`", hint="A file may appear later; its folder must be there"
        )
