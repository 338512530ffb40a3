"""Closes the loop on the boutique: explore, choose three APIs, apply fallbacks to its mesh, inject every cut again.

    python -m benchmarks.harden_boutique

Ends with one JSON line: AFVR (FastFI §4.5.2, eq. 9) as predicted, and as measured.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

from cutset.app.demo import run_boutique

BUDGET = 3
# A cart that was never read has no last good answer: for a page, an empty one will do.
WISHES = "apis: {cart/GetCart: {fallback: last-good-or-empty}}\n"


def afvr_of_boutique() -> tuple[float, float]:
    """Predicted and measured."""
    key = secrets.token_hex(32)
    with tempfile.TemporaryDirectory(prefix="cutset-bench-") as folder:
        store = Path(folder)
        (store / "wishes.yaml").write_text(WISHES)
        with run_boutique(2, key.encode(), store) as boutique:

            def cutset(*arguments: str) -> str:
                command = [sys.executable, "-m", "cutset", *arguments, "-c", str(boutique.config_file), "--json"]
                environment = os.environ | {"CUTSET_KEY": key}
                result = subprocess.run(
                    [*command, "--store", str(store)], env=environment, stdout=subprocess.PIPE, text=True, check=False
                )
                if result.returncode not in (0, 1):
                    raise SystemExit(f"`cutset {arguments[0]}` exits with {result.returncode}")
                return result.stdout

            cutset("explore")
            options = ("--budget", str(BUDGET), "--cost", str(store / "wishes.yaml"))
            document = json.loads(cutset("harden", *options, "--apply", "local", "--verify", "--known-only"))
    verification = document["verification"]
    return verification["afvr_expected"], verification["afvr"]


def main() -> None:
    predicted, measured = afvr_of_boutique()
    print(json.dumps({"afvr_predicted": round(predicted, 4), "afvr_measured": round(measured, 4)}))


if __name__ == "__main__":
    main()
