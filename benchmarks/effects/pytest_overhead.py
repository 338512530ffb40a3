"""What an experiment costs more as the body of a test than as a request of cutset.yaml.

`python -m benchmarks.effects.pytest_overhead`: the same request to the boutique, with the same fault, in the same
laboratory and in turns: sent by `workload`, and by a body that runs in another thread, uses the fixture and asks what
fired. The median of each, and the difference. A plain body sends by httpx, which carries the plan, and asks nothing.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx

from cutset.app.demo import run_boutique
from cutset.app.testing import PlaceForTests
from cutset.config.explore import load_config, request_named
from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.model.fault import Fault
from cutset.model.request import Request
from cutset_pytest.carrying import hooked_clients
from cutset_pytest.driver import Bodies, Driver
from cutset_pytest.under_test import BodyRun, UnderTest

KEY = b"a key for benchmarks, nobody else"
PATH = "/"
CUT = frozenset({Fault.parse("ad/GetAds")})  # a page without ads is a page


def measure(*, quick: bool) -> dict[str, float]:
    rounds = 20 if quick else 200
    with tempfile.TemporaryDirectory() as folder, run_boutique(1, KEY, Path(folder)) as shop:
        config = load_config(shop.config_file)
        driver = Driver()
        try:
            times = _times(driver, PlaceForTests(config, KEY, Path(folder)), rounds)
        finally:
            driver.close()
    medians = {name: 1000 * statistics.median(each) for name, each in times.items()}
    return {
        "pytest_overhead_ms": round(medians["body"] - medians["request"], 2),
        "pytest_plain_overhead_ms": round(medians["plain"] - medians["request"], 2),
        "pytest_request_ms": round(medians["request"], 2),
        "pytest_body_ms": round(medians["body"], 2),
        "pytest_rounds": rounds,
    }


def _times(driver: Driver, place: PlaceForTests, rounds: int) -> dict[str, list[float]]:
    under_test = UnderTest(place.config.target.url.rstrip("/"), driver.submit, driver.exchange)
    client = httpx.Client(base_url=place.config.target.url, trust_env=False)

    def asking() -> None:
        assert under_test.get(PATH).status_code == 200
        assert under_test.fired == under_test.cut

    def plain() -> None:
        assert client.get(PATH).status_code == 200

    def run(body: Callable[[], None]) -> Callable[[BodyRun], None]:
        def execute(execution: BodyRun) -> None:
            with under_test.running(execution), under_test.carrying():
                body()

        return execute

    chosen = [run(asking)]

    def body_of_now(execution: BodyRun) -> None:
        chosen[0](execution)

    bodies = Bodies(body_of_now)
    code = bodies.request("test", None, place.config.limits.trace_timeout)
    page = replace(request_named(f"GET {PATH}", place.config.requests), name="page")
    kinds: list[tuple[str, Request, Callable[[BodyRun], None]]] = [
        ("request", page, run(asking)),
        ("body", code, run(asking)),
        ("plain", code, run(plain)),
    ]

    async def observed(laboratory: MeshLaboratory) -> dict[str, list[float]]:
        times: dict[str, list[float]] = {name: [] for name, _, _ in kinds}
        for request in (page, code):
            assert (await laboratory.audit(request)).healthy
        for _ in range(rounds):
            for name, request, body in kinds:
                chosen[0] = body
                begin = time.perf_counter()
                trial = await laboratory.observe(request, CUT)
                times[name].append(time.perf_counter() - begin)
                assert trial.lineage.fired == CUT
        return times

    with client, hooked_clients():
        return driver.serve(place, code, bodies, observed)


if __name__ == "__main__":
    print(json.dumps(measure(quick=False)))
