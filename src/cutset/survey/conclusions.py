"""What was concluded from a survey, kept beside it: whoever asks the same of the same traces again need not wait."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from cutset.model.survey import Survey
from cutset.store.codec import from_jsonable, to_jsonable
from cutset.store.summaries import keep, key_of, pack, recalled
from cutset.survey.workers import without_collector

Conclusion = TypeVar("Conclusion")


def concluded_from(
    survey: Survey, kind: type[Conclusion], question: tuple[object, ...], conclude: Callable[[], Conclusion]
) -> Conclusion:
    """`conclude` works out the answer, which is of that type, to what is named by `question`."""
    with without_collector():
        if survey.kept is None:
            return conclude()
        folder, of_survey = survey.kept
        key = key_of(of_survey, kind, question)
        known = recalled(folder, key, partial(from_jsonable, kind))
        if known is None:
            known = conclude()
            keep(folder, key, pack(to_jsonable(known)))
        return known
