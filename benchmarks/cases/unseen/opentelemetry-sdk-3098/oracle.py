"""opentelemetry-python #3098: the service goes on, and exports no metrics any more."""
import orc


def check(state, log):
    silent = state.get("silent_s", 0)
    went_on = state.get("jobs", 0) > 50 and state.get("exports", 0) > 0
    return went_on and silent > 5 * state.get("interval_s", 1), f"the last export was {silent:.1f} s before the end"


orc.main(check)
