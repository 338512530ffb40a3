"""A session of drills as one HTML page without scripts or anything from elsewhere: a timeline and findings for each.

Names come from recordings and from the service under test, and nobody has checked them: all text is escaped.
"""

from collections.abc import Iterator, Sequence
from html import escape

from cutset.model.drill import DrillResult, DrillVerdict, worst_first
from cutset.model.wording import visible
from cutset.report.drill.terminal import phase_in_words
from cutset.report.drill.timeline import draw_timeline

_STYLE = """
:root{color-scheme:light dark;--ground:#fff;--ink:#1c2430;--muted:#5d6878;--line:#d5dbe3;--soft:#f6f8fa;--bad:#d92d20;
--good:#1a7f37;--warn:#9a6700}
@media (prefers-color-scheme:dark){:root{--ground:#0d1117;--ink:#e6edf3;--muted:#95a1b1;--line:#2b3442;--soft:#161d27;
--bad:#ff6b60;--good:#4ac26b;--warn:#d8a33a}}
body{margin:0 auto;max-width:960px;padding:24px 28px 80px;background:var(--ground);color:var(--ink);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:24px;margin:0 0 4px}h2{font-size:17px;margin:32px 0 4px;padding-top:14px;border-top:1px solid var(--line);
overflow-wrap:anywhere}
p,ul{margin:6px 0}li{overflow-wrap:anywhere}.muted{color:var(--muted)}
code,pre{font:12.5px/1.5 ui-monospace,monospace}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:8px 10px;overflow-x:auto}
.picture{overflow-x:auto;border:1px solid var(--line);border-radius:6px;margin:10px 0}
.failed{color:var(--bad)}.passed{color:var(--good)}.unknown{color:var(--warn)}
.finding{border-left:4px solid var(--bad);background:var(--soft);padding:6px 12px;margin:8px 0}
"""


def drill_page(results: Sequence[DrillResult], *, replay: str) -> str:
    """`replay` is the command that takes a test's id."""
    counts = ", ".join(
        f"{sum(each.judgement.verdict is verdict for each in results)} {verdict}" for verdict in DrillVerdict
    )
    page = "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>Drills</title><style>{_STYLE}</style></head><body>",
            f'<h1>Drills</h1><p class="muted">{len(results)} drills: {counts}</p>',
            *(line for result in worst_first(results) for line in _drill(result, replay)),
            "</body></html>\n",
        ]
    )
    return visible(page)


def _drill(result: DrillResult, replay: str) -> Iterator[str]:
    test, judgement = result.test, result.judgement
    yield f'<h2><span class="{judgement.verdict}">{judgement.verdict}</span> · {escape(str(test))}</h2>'
    yield f'<p class="muted">{escape(test.flow)}</p>'
    for finding in judgement.findings:
        yield f'<div class="finding"><b>{finding.symptom}</b> at <code>{escape(finding.level)}</code>: '
        yield f"{escape(finding.what)}"
        if finding.trace_ids:
            yield f'<br><span class="muted">evidence <code>{escape(" ".join(finding.trace_ids))}</code></span>'
        yield "</div>"
    if not judgement.findings:
        yield f"<p>{escape(judgement.reason)}</p>"
    if result.timeline:
        yield f'<div class="picture">{draw_timeline(result.timeline, title=str(test))}</div>'
    notes = [*(phase_in_words(phase) for phase in judgement.phases if phase.success.of), *judgement.notes]
    yield f"<ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>"
    yield f"<pre>{escape(f'{replay} {test.id}')}</pre>"
