"""What must hold of an installation, from before it to after it: named checks on the shop, with a real control plane.

Also how long installing and uninstalling take, and what is left.
"""

import time
from collections.abc import Callable

from benchmarks.istio import checks_of_faults, checks_of_gateways, checks_of_policies, checks_of_tracing
from benchmarks.istio.ground import SHOP, Ground, cutset, eventually, plan, private_key, restarts, tell
from benchmarks.istio.hops import WITH
from benchmarks.istio.observed import ask, ask_many, complaints, has_filter, planned, sidecars
from benchmarks.istio.resources import differences, snapshot

from cluster import shops
from cutset.inject.ecdsa import new_private_key

Check = Callable[[Ground], None]  # AssertionError: it does not hold
INSTALL = ("install", "-n", SHOP, "-n", WITH)
# A sidecar serves one more request by its old filters on each connection from before, and then closes it.
OLD_CONNECTIONS = 8
UNINSTALL = ("uninstall", "-n", SHOP, "-n", WITH)


def measure(at: Ground, *, quick: bool) -> dict[str, object]:  # noqa: ARG001 -- all of them are always looked at
    held: dict[str, bool] = {}
    uids, restarted = _uids(at), restarts(at)
    everything = snapshot(at)
    _run(at, BEFORE, held)
    installed = cutset(at, *INSTALL)
    tell(f"installed in {installed.seconds:.1f} s")
    ask_many(at, [{}] * OLD_CONNECTIONS)
    _run(at, WHILE, held)
    uninstalled = cutset(at, *UNINSTALL)
    tell(f"uninstalled in {uninstalled.seconds:.1f} s")
    ask_many(at, [{}] * OLD_CONNECTIONS)
    _run(at, AFTER, held)
    left = _left(at, everything)
    held["nothing is left"] = not left
    gone = len(uids - _uids(at))
    held["no pod was restarted or replaced"] = gone == 0 and restarts(at) == restarted
    missed = [name for name, holds in held.items() if not holds]
    tell(f"{len(held) - len(missed)} of {len(held)} checks hold" + (f"; not: {missed}" if missed else ""))
    return {
        "checks": len(held),
        "checks_held": len(held) - len(missed),
        "install_seconds": round(installed.seconds, 1),
        "uninstall_seconds": round(uninstalled.seconds, 1),
        "left_behind": len(left),
        "pod_restarts": gone + restarts(at) - restarted,
    }


def _run(at: Ground, checks: tuple[Check, ...], held: dict[str, bool]) -> None:
    for check in checks:
        name = check.__name__.replace("_", " ")
        begin = time.monotonic()
        try:
            check(at)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the check does not hold
            held[name] = False
            tell(f"FAIL {name}: {type(error).__name__}: {str(error)[:1500]}")
        else:
            held[name] = True
            tell(f"ok   {name} ({time.monotonic() - begin:.1f} s)")


def _left(at: Ground, before: dict[str, str]) -> list[str]:
    """A namespace goes away by itself, after all that is in it."""
    found: list[str] = []

    def nothing() -> bool:
        found[:] = differences(before, snapshot(at))
        return not found

    try:
        eventually("nothing of it to be left", nothing)
    except Exception as error:  # noqa: BLE001 -- then that is the result
        tell(f"{error}: {found}")
    return found


def _uids(at: Ground) -> set[str]:
    pods = [pod for space in (SHOP, WITH) for pod in at.api.get(f"/api/v1/namespaces/{space}/pods")["items"]]
    return {pod["metadata"]["uid"] for pod in pods}


# Before


def the_shop_works_without_us(at: Ground) -> None:
    answer = ask(at)
    assert answer.status == 200, answer


def without_filters_a_plan_does_nothing(at: Ground) -> None:
    answer = ask(at, plan(new_private_key(), "frontend/GET /:abort(418)"))
    assert answer.status == 200, answer


def a_dry_run_changes_nothing(at: Ground) -> None:
    before = snapshot(at)
    cutset(at, *INSTALL, "--dry-run")
    assert not differences(before, snapshot(at)), differences(before, snapshot(at))


def printing_changes_nothing_and_shows_it_all(at: Ground) -> None:
    before = snapshot(at)
    text = cutset(at, *INSTALL, "--print").output
    assert "kind: EnvoyFilter" in text, text[:500]
    assert not differences(before, snapshot(at)), differences(before, snapshot(at))


# While it is installed


def the_filters_are_in_every_sidecar(at: Ground) -> None:
    without = [pod for pod in sidecars(at, SHOP, WITH) if not has_filter(pod)]
    assert not without, without


def a_plan_fires_when_install_has_ended(at: Ground) -> None:
    statuses = [planned(at, "frontend/GET /:abort(418)").status for _ in range(12)]
    assert statuses == [418] * 12, statuses


def installing_again_changes_nothing(at: Ground) -> None:
    before = snapshot(at)
    cutset(at, *INSTALL)
    assert not differences(before, snapshot(at)), differences(before, snapshot(at))


def status_says_what_is_there(at: Ground) -> None:
    told = cutset(at, "status", "--json")
    assert SHOP in told.output, told


def nothing_was_rejected_and_no_lua_failed(at: Ground) -> None:
    found = {pod: complaints(at, pod) for pod in sidecars(at, SHOP, WITH, shops.GATEWAYS)}
    assert not any(found.values()), found


# After


def the_filters_are_out_of_every_sidecar(at: Ground) -> None:
    still = [pod for pod in sidecars(at, SHOP, WITH) if has_filter(pod)]
    assert not still, still


def a_plan_does_nothing_any_more(at: Ground) -> None:
    statuses = [ask(at, plan(private_key(at), "frontend/GET /:abort(418)")).status for _ in range(12)]
    assert statuses == [200] * 12, statuses


BEFORE: tuple[Check, ...] = (
    the_shop_works_without_us,
    without_filters_a_plan_does_nothing,
    a_dry_run_changes_nothing,
    printing_changes_nothing_and_shows_it_all,
)
WHILE: tuple[Check, ...] = (
    a_plan_fires_when_install_has_ended,
    the_filters_are_in_every_sidecar,
    *checks_of_faults.CHECKS,
    *checks_of_gateways.CHECKS,
    *checks_of_tracing.CHECKS,
    *checks_of_policies.CHECKS,
    installing_again_changes_nothing,
    status_says_what_is_there,
    nothing_was_rejected_and_no_lua_failed,
)
AFTER: tuple[Check, ...] = (the_filters_are_out_of_every_sidecar, a_plan_does_nothing_any_more)
