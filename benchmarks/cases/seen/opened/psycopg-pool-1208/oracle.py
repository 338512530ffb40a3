"""psycopg #1208: the pool lost its connection and times out from then on. Here: reports worked, now none does; pages do."""
import orc


def check(run: orc.Run) -> tuple[bool, str]:
    outcomes = run.state.get("outcomes", {"page": [], "report": []})
    pages, reports = outcomes["page"], outcomes["report"]
    down = reports[-2:] == ["no connection"] * 2 and "answered" in reports and "no connection" not in pages
    return down, f"pages: {pages.count('answered')} of {len(pages)} answered, reports: {reports}"


orc.judge(check)
