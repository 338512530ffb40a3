"""A client that writes several requests at once on one connection, with and without plans, and reads all the answers.

Who shares a connection with an experiment shares what filters may keep for it: so requests are mixed there.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

DEPTH = 4  # requests that are under way on one connection
TRIES = 5  # connections until a request is given up: a mesh closes them whenever its configuration changes


@dataclass(frozen=True, slots=True)
class Question:
    headers: Mapping[str, str] = field(default_factory=dict)
    path: str = "/"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int  # 0: none came
    headers: Mapping[str, str]
    body: bytes
    seconds: float  # from when it was written: those before it on the connection count


NO_ANSWER = Answer(0, {}, b"", 0.0)


Asking = Callable[[], Question]  # made when it is sent: plans do not live long


async def ask_all(address: tuple[str, int], questions: Sequence[Asking], connections: int) -> list[Answer]:
    """In the order of the questions."""
    answers = [NO_ANSWER] * len(questions)
    batches = iter([range(i, min(i + DEPTH, len(questions))) for i in range(0, len(questions), DEPTH)])

    async def work() -> None:
        line = _Line(address)
        try:
            for batch in batches:
                for index, answer in zip(batch, await line.ask([questions[i]() for i in batch]), strict=True):
                    answers[index] = answer
        finally:
            line.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(connections):
            group.create_task(work())
    return answers


class _Line:
    """One connection, and the next one when it was closed."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        answers: list[Answer] = []
        for _ in range(TRIES):
            try:
                answers += await self._asked(questions[len(answers) :])
            except _ClosedError as closed:
                answers += closed.answers
                self.close()
            if len(answers) == len(questions):
                return answers
        return answers + [NO_ANSWER] * (len(questions) - len(answers))

    async def _asked(self, questions: Sequence[Question]) -> list[Answer]:
        answers: list[Answer] = []
        try:
            if self._reader is None or self._writer is None:
                self._reader, self._writer = await asyncio.open_connection(*self._address)
            self._writer.write(b"".join(map(_written, questions)))
            begin = time.perf_counter()
            await self._writer.drain()
            for _ in questions:
                answers.append(await _read(self._reader, begin))
                if answers[-1].headers.get("connection") == "close":
                    raise _ClosedError(answers)
        except (OSError, EOFError) as error:
            raise _ClosedError(answers) from error
        return answers

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


class _ClosedError(Exception):
    """The other side closed the connection before it had answered everything."""

    def __init__(self, answers: list[Answer]) -> None:
        super().__init__()
        self.answers = answers


def _written(question: Question) -> bytes:
    headers = (f"{name}: {text}" for name, text in question.headers.items())
    lines = [f"GET {question.path} HTTP/1.1", "host: shop", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _read(reader: asyncio.StreamReader, begin: float) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    headers = {key.lower(): text.strip() for key, _, text in (line.partition(":") for line in lines)}
    body = await _chunks(reader) if "transfer-encoding" in headers else b""
    if length := int(headers.get("content-length", 0)):
        body = await reader.readexactly(length)
    return Answer(int(first.split()[1]), headers, body, time.perf_counter() - begin)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readline(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return body
