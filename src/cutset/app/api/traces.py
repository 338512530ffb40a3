"""Traces, from Python."""

from collections.abc import Sequence
from pathlib import Path

from cutset.app.ingest import ingest_traces
from cutset.app.survey import survey_traces
from cutset.model.steps import finished
from cutset.model.survey import Ingested, Survey


def ingest(sources: Sequence[str], *, store: str | Path = ".cutset") -> Ingested:
    """Reads traces from files, folders or servers into the store, as `cutset ingest` does."""
    return finished(ingest_traces(Path(store), sources))


def survey_store(store: str | Path = ".cutset") -> Survey:
    """Request classes, their calls and how often they fail, of all stored traces: what `cutset classes` shows."""
    return finished(survey_traces(Path(store)))
