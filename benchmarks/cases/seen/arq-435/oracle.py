"""arq #435: orders are taken, but the worker neither ships them nor takes stock any more."""
import orc


def check(state, log):
    waiting, idle = state.get("waiting", 0), state.get("idle", 0)
    return waiting >= 15 and idle > 2, f"{waiting} orders wait, stock taken {idle:.1f} s before the end"


orc.main(check)
