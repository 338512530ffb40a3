"""What of traffic was not recorded, or is in a recording and not shown or sent, and why."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cutset.model.wording import count
from cutset.report.printable import printable
from cutset.workload.recording.folder import Recorded
from cutset.workload.recording.har import Har
from cutset.workload.recording.tap import Taps
from cutset.workload.templates.template import entry_exchanges, unsendable

SHOWN_HOSTS = 5


def har_lines(har: Har) -> Iterator[str]:
    if har.elsewhere:
        hosts = ", ".join(f"{name} ({number})" for name, number in har.elsewhere.most_common(SHOWN_HOSTS))
        entries = count(har.elsewhere.total(), "entry")
        yield f"Left out {entries} of hosts other than `{printable(har.host)}`: {printable(hosts)}"
    if har.unanswered:
        yield f"Left out {count(har.unanswered, 'entry')} without an answer"


def tap_lines(taps: Taps, folder: Path) -> Iterator[str]:
    if taps.skipped:
        yield f"Left out {count(taps.skipped, 'file')} that {'is' if taps.skipped == 1 else 'are'} no whole tap"
    yield f"`{printable(str(folder))}` still holds the requests with their secrets: delete it when you need it no more"


def loss_lines(recorded: Recorded) -> Iterator[str]:
    """What of a recording is not shown or sent."""
    entries = entry_exchanges(recorded.exchanges)
    reasons = Counter(filter(None, map(unsendable, entries)))
    if len(entries) < len(recorded.exchanges):
        yield f"{count(len(recorded.exchanges) - len(entries), 'exchange')} between services left out"
    for reason, number in reasons.items():
        yield f"{count(number, 'exchange')} left out: {reason}"
    if recorded.damaged:
        yield f"[yellow]warning:[/] {count(recorded.damaged, 'part')} of the recording could not be read"
    if recorded.torn:
        was, is_not = ("was", "is") if recorded.torn == 1 else ("were", "are")
        yield f"{count(recorded.torn, 'batch')} {was} being written when the recorder died, and {is_not} not there"
