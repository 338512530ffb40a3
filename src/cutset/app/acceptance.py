"""Accepts one finding: puts it, with the reason why it may stay, into the file that CI is held against."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import yaml

from cutset.app.report import read_campaign
from cutset.config.baseline import load_baseline
from cutset.errors import TargetError, UsageError
from cutset.report.campaign.baseline import Accepted, to_yaml

LONGEST_REASON = 2_000  # characters


def accept_finding(store: Path, campaign: str, finding_id: str, because: str, file: Path) -> Accepted:
    """All else that the file holds stays, and so does the file itself until the new one is whole."""
    reason = " ".join(because.split())
    if not reason:
        raise UsageError(
            "A finding is accepted for a reason, and there is none", hint="Say why it may stay: a reviewer will ask"
        )
    if len(reason) > LONGEST_REASON:
        raise UsageError(f"The reason has {len(reason):,} characters, more than {LONGEST_REASON:,}", hint="Say less")
    summary = read_campaign(store, campaign).summary
    found = next((each for each in (*summary.findings, *summary.degradations) if each.id == finding_id), None)
    if found is None:
        raise UsageError(f"There is no finding `{finding_id}` in this campaign", hint="`cutset report` lists them")
    accepted = Accepted(found, reason)
    others = [each for each in _known(file) if each.finding.id != finding_id]
    _replace(file, to_yaml([*others, accepted]))
    return accepted


def accepted_in(file: Path, finding_id: str) -> Accepted | None:
    """None: not accepted there."""
    known = load_baseline(file) if file.exists() else []
    return next((each for each in known if each.finding.id == finding_id), None)


def _known(file: Path) -> list[Accepted]:
    """Raises UsageError for a file that we would do harm to."""
    if not file.exists():
        return []
    known = load_baseline(file)
    ours = {line.strip() for line in to_yaml([]).splitlines() if line.startswith("#")}
    if own := [each for each in _comments(file.read_text(encoding="utf-8")) if each not in ours]:
        raise UsageError(
            f"`{file}` has comments, which would get lost: `{own[0][:80]}`",
            hint="Put what they say into `accepted_because`, or add the finding by hand",
        )
    return known


def _comments(text: str) -> Iterator[str]:
    """Whatever is between what YAML reads."""
    for before, after in pairwise(yaml.scan(text)):
        between = text[before.end_mark.index : after.start_mark.index]
        yield from (line.strip() for line in between.splitlines() if line.strip().startswith("#"))


def _replace(file: Path, text: str) -> None:
    target = file.resolve()  # a link stays one
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as draft:
            try:
                draft.write(text)
                draft.flush()
                os.fsync(draft.fileno())
                if target.exists():
                    shutil.copymode(target, draft.name)
                else:
                    Path(draft.name).chmod(0o644)  # it is for reviewers
                Path(draft.name).replace(target)
            except BaseException:
                Path(draft.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise TargetError(f"Cannot write `{file}`: {error.strerror}", hint="Nothing was changed") from error
