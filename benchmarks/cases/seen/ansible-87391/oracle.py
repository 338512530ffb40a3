"""ansible #87391: the facts of a machine were collected, are gone now, and the next play stops because of that."""
import orc


def check(state, log):
    lost = state.get("machines", 0) - state.get("facts", 0)
    stopped = state.get("collected") == 0 and state.get("deployed") != 0
    return stopped and lost > 0, f"facts of {lost} machines lost, the deployment ended with {state.get('deployed')}"


orc.main(check)
