"""aiosqlite #35: the program has done its work, and hangs instead of ending."""
import orc


def check(state, log):
    done = state.get("billed", 0) >= state.get("tenants", 99) - 1
    return done and not state.get("ended", True), f"{state.get('billed')} tenants billed, ended: {state.get('ended')}"


orc.main(check)
