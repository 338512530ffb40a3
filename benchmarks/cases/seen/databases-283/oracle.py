"""databases #283: the shop takes orders, but those of the last wave are not sent any more."""
import orc


def check(state, log):
    waiting = state.get("waiting") or 0
    return waiting >= 15, f"{waiting} of {state.get('accepted')} accepted orders wait"


orc.main(check)
