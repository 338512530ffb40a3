"""watchdog #1065: the observer is alive, yet from some time on tells nothing. Here: early in the evening shift."""
import orc


def check(run: orc.Run) -> tuple[bool, str]:
    files, counts = run.state.get("files", 0), {shift: len(set(names)) for shift, names in run.state.get("noticed", {}).items()}
    before = all(count == files for shift, count in counts.items() if shift != "evening")
    deaf = 1 <= counts.get("evening", 0) <= files / 2
    return deaf and before and run.state["alive"]["evening"], f"noticed of {files}: {counts}"


orc.judge(check)
