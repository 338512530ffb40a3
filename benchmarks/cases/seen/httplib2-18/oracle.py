"""httplib2 #18: an answer belongs to the request before, so a customer is charged for what somebody else used."""
import orc


def check(state, log):
    wrong = state.get("wrong", {})
    return bool(wrong), f"{len(wrong)} of {state.get('bills')} bills are wrong"


orc.main(check)
