"""What Cutset costs those who are not testing: one hop through a sidecar with its filters, over one without."""

from benchmarks.hop_latency import ROUNDS, interleaved_medians
from benchmarks.istio.ground import Ground, tell
from benchmarks.istio.hops import CONTROL, WITH, WITHOUT, hop_address

QUICK_ROUNDS = 600


def measure(at: Ground, *, quick: bool) -> dict[str, object]:
    rounds = QUICK_ROUNDS if quick else ROUNDS
    medians = interleaved_medians({space: hop_address(at, space) for space in (WITH, WITHOUT, CONTROL)}, rounds)
    ratio, control = medians[WITH] / medians[WITHOUT], medians[CONTROL] / medians[WITHOUT]
    tell(f"one hop {medians[WITHOUT] * 1e6:.0f} µs, with the filters ×{ratio:.3f}; without once more ×{control:.3f}")
    return {"unmarked_p50_ratio": round(ratio, 3)}
