"""coverage.py #1522: all tests pass, and there is no report: "assert row is not None"."""
import orc


def check(state, log):
    passed = state.get("passed", 0) == state.get("modules", -1)
    return passed and state.get("percent") is None, f"{state.get('passed')} passed, coverage: {state.get('percent')}"


orc.main(check)
