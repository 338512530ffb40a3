"""Runs a job under a keeper and waits for its report; asyncio's side of `keeper`, which must start without it."""

import asyncio
import json
import os
import subprocess
from dataclasses import asdict

from cutset.process.keeper import MARKER, Ending, Job, JobReport, end_marked, kept


async def supervise(job: Job) -> JobReport:
    """When we are cancelled or killed, the keeper ends all processes of the job."""
    process = await asyncio.create_subprocess_exec(
        *kept(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C in a terminal is for us alone: we decide what it means
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(asdict(job)).encode() + b"\n")
        said = (await process.stdout.read()).decode(errors="replace")
    finally:
        process.stdin.close()  # which asks the keeper to end everything
        await ended(process)
        # Its pipes may be told of after that, when the loop is gone: asyncio then complains in somebody else's name.
        process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001
    try:
        fields = json.loads(said)
    except ValueError:
        if job.env and MARKER in job.env:
            await asyncio.to_thread(end_marked, job.env[MARKER])
        return JobReport(Ending.LOST, problem=f"its keeper ended with {process.returncode}: {said[-500:]}")
    return JobReport(**{**fields, "ended": Ending(fields["ended"])})


async def ended(process: asyncio.subprocess.Process) -> int:
    """Its exit code, when it is really over: who is cancelled while waiting for the end waits all the same."""
    waiting = asyncio.ensure_future(process.wait())
    cancelled: asyncio.CancelledError | None = None
    while not waiting.done():
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    return waiting.result()


def inherited_environment() -> dict[str, str]:
    """For other people's programs: without what Cutset is told itself."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CUTSET_")}
