"""sqlitedict #108: `commit()` never returns. Here the store of the orders hangs after a good start, the others finish."""
import orc


def check(run: orc.Run) -> tuple[bool, str]:
    written, stuck = run.state.get("written", {}), run.state.get("stuck", [])
    return stuck == ["orders"] and 0 < written["orders"] < run.state["rounds"], f"hanging: {stuck}, committed: {written}"


orc.judge(check)
