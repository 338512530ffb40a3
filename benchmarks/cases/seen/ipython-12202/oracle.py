"""ipython #12202: much of what was run is not in the history."""
import orc


def check(state, log):
    lost = state.get("run", 0) - state.get("saved", 0)
    return lost >= 15, f"{lost} of {state.get('run')} cells are not in the history"


orc.main(check)
