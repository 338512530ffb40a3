"""How long does one wait on a ledger of 10,000 experiments and 300 services? For the first paint of each page, as
Chromium itself tells it, when the dashboard has just been started and afterwards; and, on the service graph, from a
click on a call until the page says what becomes of the requests.

    python -m benchmarks.ui.large [--quick]
"""

import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.truth.topic import run_alone
from benchmarks.ui.chromium import chromium
from tests.samples.dashboard_in_browser import Looking, looking, running_dashboard
from tests.samples.large_campaign import record_large_campaign

SERVICES, EXPERIMENTS = 300, 10_000
QUICK_SERVICES, QUICK_EXPERIMENTS = 60, 500
VIEWS = 5  # of each page, after the first
CLICKS = 40
PAINT = """() => new Promise(done => new PerformanceObserver(list => {
  const paint = list.getEntriesByName('first-contentful-paint')[0];
  if (paint) done(paint.startTime);
}).observe({ type: 'paint', buffered: true }))"""
EXPLAIN = """point => new Promise(done => {
  const panel = document.getElementById('graph-panel');
  const row = [...document.querySelectorAll('#graph [data-point]')].find(each => each.dataset.point === point);
  const began = performance.now();
  const observer = new MutationObserver(() => {
    observer.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  });
  observer.observe(panel, { childList: true, subtree: true });
  row.dispatchEvent(new MouseEvent('click', { bubbles: true }));
})"""


def measure(*, quick: bool) -> dict[str, object]:
    services, experiments = (QUICK_SERVICES, QUICK_EXPERIMENTS) if quick else (SERVICES, EXPERIMENTS)
    with tempfile.TemporaryDirectory(prefix="cutset-large-") as name:
        store = Path(name, ".cutset")
        run = record_large_campaign(store, services, experiments)
        addresses = ["/", "/campaigns", f"/campaigns/{run}", f"/graph?campaign={run}", f"/harden?campaign={run}"]
        cold: dict[str, float] = {}
        warm: dict[str, float] = {}
        with chromium() as browser:
            for address in addresses:  # each the first that anybody asks a new dashboard for
                with running_dashboard(store) as dashboard, looking(browser, dashboard, first=address) as look:
                    cold[address] = _painted(look)
            with running_dashboard(store) as dashboard, looking(browser, dashboard) as look:
                for address in addresses:
                    look.open(address)
                    warm[address] = median(_painted_anew(look, address) for _ in range(VIEWS))
                look.open(f"/graph?campaign={run}")
                points = look.page.eval_on_selector_all("#graph [data-point]", "all => all.map(e => e.dataset.point)")
                clicked = list(dict.fromkeys(points))[:: max(1, len(points) // CLICKS)][:CLICKS]
                explained = []
                for point in clicked:  # alone, each from the beginning
                    explained.append(look.page.evaluate(EXPLAIN, point))
                    look.page.evaluate(EXPLAIN, point)
    for address in addresses:
        print(f"first paint of {address}: {cold[address]:.0f} ms, then {warm[address]:.0f} ms", file=sys.stderr)
    return {
        "services": services,
        "experiments": experiments,
        "first_paint_ms": round(max(warm.values())),
        "first_paint_cold_ms": round(max(cold.values())),
        "explain_ms": round(median(explained), 1),
        "explain_worst_ms": round(max(explained), 1),
        "explained": len(explained),
    }


def _painted_anew(look: Looking, address: str) -> float:
    look.open(address)
    return _painted(look)


def _painted(look: Looking) -> float:
    """Milliseconds from the beginning of the navigation."""
    return float(look.page.evaluate(PAINT))


if __name__ == "__main__":
    run_alone(measure, __doc__)
