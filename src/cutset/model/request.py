"""A request under test: what to send, what must happen before it, and what counts as an answer."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cutset.model.fault import Cut


@dataclass(frozen=True, slots=True)
class Step:
    """One HTTP request. `{session}` in the path, a header or the body stands for a fresh value per experiment.

    So does `{name}` for what an earlier step has taken from its answer, and `${NAME}` for an environment variable.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    form: Mapping[str, str] | None = field(default=None, hash=False)
    json: object = field(default=None, hash=False)
    body: str | None = None
    take: Mapping[str, str] = field(default_factory=dict, hash=False)  # by name, from where in the answer


@dataclass(frozen=True, slots=True)
class Errand:
    """What is known when code makes a request."""

    url: str  # of the target, without a slash at its end
    headers: Mapping[str, str]  # carry the plan
    values: Mapping[str, str]  # that `{name}` stands for: `session`, and what earlier answers gave
    seconds: float  # for an answer
    send: "Callable[[Step], Awaitable[Response]]"  # in the same session, with these headers
    unfaulted: "Callable[[], Mapping[str, str]]" = dict  # headers for what must come before, without faults
    under_test: bool = True  # False: a set-up step, which need not send anything to the target


@dataclass(frozen=True, slots=True)
class WorkloadStep:
    """What is no single HTTP request, and is made by code of ours or of the user's: a function, a command, a gRPC call.

    What it raises is no answer, unless it is an error of ours.
    """

    name: str  # `tests/flows.py:checkout`
    run: "Callable[[Errand], Awaitable[Response]]" = field(compare=False, hash=False)
    version: str = ""  # another one: what it does may differ
    texts: tuple[str, ...] = ()  # that it sends, as far as we know
    take: Mapping[str, str] = field(default_factory=dict, hash=False)
    patience: float = field(default=0.0, compare=False)  # seconds that it may take beyond those of an answer


@dataclass(frozen=True, slots=True)
class FunctionStep:
    """Any code that makes the request. It is given the headers that carry the plan, and returns what came back.

    What it raises is no answer: the text of the exception is what the user sees.
    """

    name: str  # as in a fingerprint of the campaign: `tests.shop:checkout`
    run: "Callable[[Mapping[str, str]], Awaitable[Response]]" = field(compare=False, hash=False)
    patience: float = field(default=0.0, compare=False)  # seconds that it may take beyond those of an answer


@dataclass(frozen=True, slots=True)
class OracleFunction:
    """Any code that says whether an answer is good: None or True, or a text that says what is wrong with it."""

    name: str  # `tests/oracle.py:is_good`
    digest: str = ""  # of its file: what it said of other answers was said by the same code
    check: "Callable[[Response], object] | None" = field(default=None, compare=False, hash=False, repr=False)

    def __str__(self) -> str:
        return f"{self.name} {self.digest}".strip()


@dataclass(frozen=True, slots=True)
class Expectation:
    """MicroFI §4.4.5: the three rules that tell a failure from an answer; and what an answer must say."""

    status: tuple[int, ...] = ()  # acceptable statuses; empty: those of the baseline
    keywords: tuple[str, ...] = ()  # words that betray a failure in the body of a 200
    max_seconds: float = 10.0
    text: tuple[str, ...] = ()  # must be in what the user sees
    # Path -> value or conditions, as `judge.conditions` reads them: `order.total: 19.99`, `items: {count: 9}`.
    json: Mapping[str, object] = field(default_factory=dict, hash=False)
    header: Mapping[str, object] = field(default_factory=dict, hash=False)  # name -> value or conditions
    matches: tuple[str, ...] = ()  # regular expressions that must be found in what the user sees
    function: OracleFunction | None = None


@dataclass(frozen=True, slots=True)
class Request:
    name: str  # the request class, as in reports: `POST /cart/checkout`
    step: Step | FunctionStep | WorkloadStep
    setup: tuple[Step | WorkloadStep, ...] = ()  # sent first, in the same session, without faults
    expect: Expectation = Expectation()


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. `error` says why nothing did."""

    status: int = 0
    content_type: str = ""
    body: bytes = field(default=b"", repr=False)
    seconds: float = 0.0
    error: str = ""
    sent: bool = True  # False: there was nobody to send it to, so that it left no trace
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    exchanges: int = 0  # requests that carried the plan, at most; 0: nobody knows, so that only silence ends the trace
    told: Cut | None = None  # what whoever made the request was told had fired, if it asked
    void: str = ""  # why it proves nothing, by the word of whoever made it

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", errors="replace")

    def json(self) -> Any:
        """Raises ValueError where the body is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise ValueError(f"answered {self.status} with `{self.text[:120]}`, which is no JSON") from None

    def header(self, name: str) -> str:
        """Its values, as one; empty if there is none."""
        return ", ".join(value for each, value in self.headers if each.lower() == name.lower())
