"""loguru #238: from some rotation on nothing more is written to the file."""
import orc


def check(state, log):
    lost = state.get("orders", 0) - state.get("audited", 0)
    return lost >= 30, f"{lost} of {state.get('orders')} orders are not in the audit log"


orc.main(check)
