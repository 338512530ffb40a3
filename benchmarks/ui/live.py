"""How long does it take from the time that is written on an event in the ledger to its being in an open page? Another
process records experiments at the pace of a real campaign; the page notes when each appears in it.

    python -m benchmarks.ui.live [--quick]
"""

import os
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from benchmarks.truth.topic import run_alone
from benchmarks.ui.chromium import chromium
from tests.samples.dashboard_in_browser import looking, running_dashboard
from tests.samples.large_campaign import large_campaign

from cutset.model.event import ExperimentFinished
from cutset.model.run import Loop, RunStarted
from cutset.store.active import ActiveInjection, injecting
from cutset.store.ledger import open_ledger
from cutset.store.run_id import new_run_id

SERVICES = 30
EXPERIMENTS, QUICK_EXPERIMENTS = 120, 30
BETWEEN_SECONDS = 0.21  # experiments of the demo; no multiple of anything that the dashboard waits for
WATCH = """
addEventListener('DOMContentLoaded', () => {
  window.seen = {};
  const note = () => {
    for (const each of document.querySelectorAll('[id^=experiment-]')) window.seen[each.id] ??= Date.now();
  };
  note();
  new MutationObserver(note).observe(document.body, { childList: true, subtree: true });
})
"""


def measure(*, quick: bool) -> dict[str, object]:
    experiments = QUICK_EXPERIMENTS if quick else EXPERIMENTS
    run, recorded = new_run_id(), dict[str, float]()
    opened = threading.Event()
    with tempfile.TemporaryDirectory(prefix="cutset-live-") as name:
        store = Path(name, ".cutset")
        with open_ledger(store) as ledger:
            ledger.append(run, RunStarted(loop=Loop.CAMPAIGN, run=run, command="explore"))

        def record() -> None:
            active = ActiveInjection(
                run, "campaign", "benchmark", "nobody@here", os.getpid(), time.time(), "abort(503)"
            )
            with injecting(store, active), open_ledger(store) as ledger:
                for event in large_campaign(SERVICES, experiments):
                    if isinstance(event, ExperimentFinished):
                        opened.wait()
                        time.sleep(BETWEEN_SECONDS)
                        recorded[f"experiment-{len(recorded) + 1}"] = at = time.time()
                        ledger.append(run, event, at=at)
                    else:
                        ledger.append(run, event)
                finished.wait()

        finished = threading.Event()
        writer = threading.Thread(target=record)
        writer.start()
        try:
            with chromium() as browser, running_dashboard(store) as dashboard, looking(browser, dashboard) as look:
                look.page.add_init_script(WATCH)
                look.open(f"/campaigns/{run}")
                look.page.wait_for_selector("[data-live]", state="attached")
                opened.set()
                look.page.wait_for_selector(f"#experiment-{experiments}", state="attached", timeout=120_000)
                seen: dict[str, float] = look.page.evaluate("window.seen")
        finally:
            opened.set()
            finished.set()
            writer.join()
    lags = [seen[name] - 1000 * at for name, at in recorded.items()]
    return {"live_lag_ms": round(median(lags)), "live_lag_worst_ms": round(max(lags)), "live_events": len(lags)}


if __name__ == "__main__":
    run_alone(measure, __doc__)
