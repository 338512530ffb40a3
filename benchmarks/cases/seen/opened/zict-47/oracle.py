"""zict PR 47: a key is accidentally lost when the disk is full. Here: the customers, and each job that needs them fails."""
import orc


def check(run: orc.Run) -> tuple[bool, str]:
    outcomes = run.state.get("outcomes", [])
    failed = [outcome for outcome in outcomes if outcome != "done"]
    holds = bool(failed) and set(failed) == {"lost customers"} and "done" in outcomes
    return holds and "customers" not in run.state["keys"], f"{len(failed)} of {len(outcomes)} jobs failed: {sorted(set(failed))}"


orc.judge(check)
