"""Requests that another file holds: a recording, a HAR file or an OpenAPI file. Which it is, the file itself says."""

from collections.abc import Sequence
from pathlib import Path

from cutset.errors import UsageError
from cutset.model.request import Request
from cutset.model.wording import did_you_mean, known_names, sentences
from cutset.workload.sources.proposal import ProposedRequest


def proposed_requests(path: Path) -> tuple[ProposedRequest, ...]:
    # Few read any of these.
    from cutset.workload.sources.openapi import openapi_requests  # noqa: PLC0415
    from cutset.workload.sources.recorded import har_requests, recording_requests  # noqa: PLC0415

    if path.is_dir():
        return recording_requests(path)
    if not path.exists():
        raise UsageError(
            f"There is no source of requests `{path}`",
            hint="Name the folder of a recording, a HAR or an OpenAPI file; paths count from the file that names them",
        )
    return har_requests(path) if path.suffix.lower() == ".har" else openapi_requests(path)


def requests_from(path: Path, only: Sequence[str] = ()) -> tuple[Request, ...]:
    """Those that are asked for; without `only`, all that nothing speaks against."""
    proposed = {each.request.name: each for each in proposed_requests(path)}
    for name in only:
        if name not in proposed:
            hint = sentences(did_you_mean(name, proposed), known_names(proposed))
            raise UsageError(f"`{path}` has no request `{name}`", hint=hint)
    chosen = [proposed[name] for name in only] or [each for each in proposed.values() if not each.held_back]
    if not chosen:
        raise UsageError(
            f"All requests in `{path}` are held back: {next(iter(proposed.values())).held_back}",
            hint="Name those that may be sent, with `only`",
        )
    return tuple(each.request for each in chosen)
