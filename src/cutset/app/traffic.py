"""What `cutset record show` and `cutset replay` do: recorded flows as templates, and sent again."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from cutset.workload.recording.folder import Recorded, read_recording
from cutset.workload.replay import ReplayTally, replay
from cutset.workload.templates.rules import rules_for
from cutset.workload.templates.template import Template, entry_exchanges, templates_of, verbatim


def read_flows(recording: Path, variables: Path | None = None) -> tuple[Recorded, Sequence[Template]]:
    """What was recorded, and the flows of users in it as templates. `variables` is a file other than the folder's."""
    recorded = read_recording(recording)
    return recorded, templates_of(entry_exchanges(recorded.exchanges), rules_for(recording, variables))


async def replay_flows(
    templates: Sequence[Template],
    url: str,
    *,
    naive: bool = False,
    templated: bool = True,
    parallel: int = 8,
    timeout: float = 10.0,  # noqa: ASYNC109 -- of each request; its expiry is a result
) -> dict[str, Mapping[str, ReplayTally]]:
    """By the way of sending, naively (what was recorded, byte for byte) first, and by request class."""
    ways = {"naive": [verbatim(template) for template in templates]} if naive else {}
    ways |= {"templated": list(templates)} if templated else {}
    return {
        way: await replay(sent, base_url=url, values=os.environ, parallel=parallel, timeout=timeout)
        for way, sent in ways.items()
    }
