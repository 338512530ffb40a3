"""Requests that a user's command makes: what it prints is the answer, exit code 0 says that there was one."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cutset.errors import UsageError
from cutset.model.request import Errand, Response
from cutset.process.keeper import Ending, Job
from cutset.process.supervise import inherited_environment, supervise
from cutset.workload.filling import SESSION, fill_names
from cutset.workload.functions import JSON_TYPE, TEXT_TYPE

OUTPUT_LIMIT = 2 * 1024 * 1024  # bytes of each of its outputs, as of any answer
GRACE_SECONDS = 0.5  # to tidy up when the time is over
SHOWN = 200  # characters of what it said last

# As command-line tools of OpenTelemetry read them.
_CARRYING = ("traceparent", "tracestate", "baggage")


async def run_command(command: Sequence[str], folder: Path, errand: Errand) -> Response:
    words = [fill_names(word, errand.values) for word in command]  # a shell has its own variables
    with tempfile.TemporaryDirectory(prefix="cutset-") as place:
        out, err, header_file = (Path(place, name) for name in ("stdout", "stderr", "headers"))
        header_file.write_text("".join(f"{name}: {value}\n" for name, value in errand.headers.items()))
        job = Job(
            tuple(words),
            cwd=str(folder),
            env=inherited_environment() | environment_of(errand) | {"CUTSET_HEADER_FILE": str(header_file)},
            stdout=str(out),
            stderr=str(err),
            grace_s=GRACE_SECONDS,
            timeout_s=errand.seconds,
            output_limit=2 * OUTPUT_LIMIT,
        )
        report = await supervise(job)
        said, complained = (path.read_bytes() if path.exists() else b"" for path in (out, err))
    if report.ended is Ending.NOT_STARTED:
        raise UsageError(
            f"The command `{command[0]}` of a request does not start: {report.problem}",
            hint=f"It is looked for in `{folder}`, if it has a slash, and else on the PATH; it must be executable",
        )
    if report.ended is not Ending.EXITED:
        return Response(error=f"`{command[0]}` {report.ended} {report.problem}".rstrip())
    if report.status:
        return Response(error=_last_line(complained) or f"`{command[0]}` ended with {report.status}")
    return Response(200, _type_of(said), said)


def environment_of(errand: Errand) -> dict[str, str]:
    headers = {name.lower(): value for name, value in errand.headers.items()}
    carrying = {name.upper(): headers[name] for name in _CARRYING if name in headers}
    ours = {"URL": errand.url, "SESSION": errand.values[SESSION], "HEADERS": json.dumps(dict(errand.headers))}
    return carrying | {f"CUTSET_{name}": value for name, value in ours.items()}


def _last_line(text: bytes) -> str:
    lines = [line for line in text.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip()[:SHOWN] if lines else ""


def _type_of(body: bytes) -> str:
    try:
        json.loads(body)
    except ValueError:
        return TEXT_TYPE
    return JSON_TYPE
