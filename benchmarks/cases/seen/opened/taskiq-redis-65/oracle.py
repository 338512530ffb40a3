"""taskiq-redis #65: a long-running task is interrupted and never completes. Here: the report is begun, but not written."""
import orc


def check(run: orc.Run) -> tuple[bool, str]:
    lines = run.state.get("journal", [])
    begun, ended = "begin report-2026-10" in lines, "end report-2026-10" in lines
    sent = len({line for line in lines if line.startswith("end notify")})
    words = f"report {'begun' if begun else 'not begun'}, {'written' if ended else 'not written'}, {sent} notifications sent"
    return begun and not ended and sent >= run.state["notifications"] - 1, words


orc.judge(check)
