"""Rounds that never ran, and what an oracle says of them."""

import asyncio
from pathlib import Path

from cutset.process.keeper import Ending
from cutset.reproduce.oracle.expression import judge, parse_oracle
from cutset.reproduce.oracle.symptoms import OracleVerdict
from cutset.reproduce.python.log_dialect import PythonLogs
from cutset.reproduce.rounds.runner import RoundRecord


def a_round(
    folder: Path,
    output: str = "",
    *,
    ended: Ending = Ending.EXITED,
    exit_code: int | None = 0,
    signal: int | None = None,
    wall_s: float = 1.0,
    silent_s: float = 0.0,
) -> RoundRecord:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (folder / "run.log").write_text(output)
    return RoundRecord(
        folder=folder,
        work=work,
        ended=ended,
        exit_code=exit_code if ended is Ending.EXITED and signal is None else None,
        signal=signal,
        wall_s=wall_s,
        cpu_s=0.1,
        silent_s=silent_s,
        outputs=(folder / "run.log",),
        logs=(folder / "run.log",),
        fired=None,
        visits=(),
        problems=(),
    )


def ask(specification: str, record: RoundRecord) -> OracleVerdict:
    return asyncio.run(judge(parse_oracle(specification), record, PythonLogs()))


def answer(specification: str, record: RoundRecord) -> str:
    return str(ask(specification, record).answer)
