"""anyio #398: a lock is never free again, all who need it wait in vain."""
import orc


def check(state, log):
    errors = state.get("errors", 0)
    return errors >= 5, f"{errors} of {state.get('visitors')} visitors got no answer"


orc.main(check)
