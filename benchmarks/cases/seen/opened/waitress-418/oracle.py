"""waitress #418: the main thread is at 100 % with nothing to do, for a channel that never goes away."""
import orc


def check(run: orc.Run) -> tuple[bool, str]:
    load, channels = run.state.get("load", 0.0), run.state.get("channels", 0)
    return load > 0.1 and channels > 0, f"load {load:.0%} while idle, {channels} channels left"


orc.judge(check)
