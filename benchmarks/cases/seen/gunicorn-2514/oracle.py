"""gunicorn #2514: the site worked for a while, now nobody answers."""
import orc


def check(state, log):
    down = state.get("served", 0) >= 20 and not state.get("last", 1) and not state.get("up", True)
    return down, f"{state.get('served')} requests served, {state.get('last')} of the last ten"


orc.main(check)
