"""What a user asks of an answer and it does not have: texts, patterns, values, headers, and what a function says."""

import inspect
import json
import traceback
from collections.abc import Iterator

from cutset.errors import UsageError
from cutset.judge.conditions import NOTHING, found_in, unmet, unmet_text
from cutset.judge.quotes import snippet, spaced_once
from cutset.judge.shape import JSON_LIMIT, visible_text
from cutset.model.request import Expectation, OracleFunction, Response


def unmet_expectations(response: Response, expect: Expectation) -> Iterator[str]:
    """In words that follow "but"."""
    if expect.text or expect.matches:
        yield from _unsaid(spaced_once(visible_text(response.content_type, response.body)), expect)
    yield from _wrong_headers(response, expect)
    if expect.json:
        yield from _wrong_values(response, expect)
    if expect.function and (problem := _said_by(expect.function, response)):
        yield snippet(problem, quotes="`")


def _unsaid(text: str, expect: Expectation) -> Iterator[str]:
    for wanted in expect.text:
        if spaced_once(wanted) not in text:
            yield f"does not say `{snippet(wanted)}`"
    for pattern in expect.matches:
        if not found_in(pattern, text):
            yield f"says nothing like `{snippet(pattern)}`"


def _wrong_headers(response: Response, expect: Expectation) -> Iterator[str]:
    for name, condition in expect.header.items():
        there = any(each.lower() == name.lower() for each, _ in response.headers)
        if problem := unmet_text(name, condition, response.header(name) if there else None):
            yield f"the header {problem}"


def _wrong_values(response: Response, expect: Expectation) -> Iterator[str]:
    document = _document(response)
    for path, condition in expect.json.items():
        if problem := unmet(path, path, condition, document):
            yield problem


def _document(response: Response) -> object:
    try:
        return json.loads(response.body) if len(response.body) <= JSON_LIMIT else NOTHING
    except (ValueError, RecursionError):
        return NOTHING


def _said_by(function: OracleFunction, response: Response) -> str:
    """What the user's function finds wrong with an answer.

    An assertion that does not hold is a way to say so. Any other error is the function's own: no verdict rests on it.
    """
    assert function.check is not None, function.name
    try:
        said = function.check(response)
    except AssertionError as error:
        return (str(error).splitlines() or [""])[0] or f"`{_last_frame(error).line}` does not hold"
    except UsageError:  # it could not be loaded
        raise
    except Exception as error:
        frame, what = _last_frame(error), f"{type(error).__name__}: {error}"
        raise UsageError(
            f"`{frame.filename}`, line {frame.lineno}: {snippet(what)}, in `{function.name}`, "
            f"which was asked about an answer with status {response.status}",
            hint="Faults make answers of any kind: let it return a text that says what is wrong, whatever it is given",
        ) from error
    if said is None or said is True or said == "":
        return ""
    if said is False:
        return f"`{function.name}` says that it is not good"
    if isinstance(said, str):
        return said
    if inspect.iscoroutine(said):
        said.close()
        kind = "a coroutine: it must not be `async`"
    else:
        kind = snippet(repr(said))
    raise UsageError(
        f"`{function.name}` returned {kind}",
        hint="Let it return None or True for a good answer, or a text that says what is wrong",
    )


def _last_frame(error: Exception) -> traceback.FrameSummary:
    return traceback.extract_tb(error.__traceback__)[-1]
