"""huey #915: due tasks were neither run nor are they in the queue or in the schedule any more."""
import orc


def check(state, log):
    kept = state.get("sent", 0) + state.get("queued", 0) + state.get("scheduled", 0)
    lost = state.get("expected", 0) - kept
    return lost >= 5, f"{lost} of {state.get('expected')} tasks are lost"


orc.main(check)
