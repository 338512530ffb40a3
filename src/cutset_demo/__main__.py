"""`python -m cutset_demo` runs the shop alone, without a mesh, until Ctrl-C."""

import signal
import sys
import tempfile
from pathlib import Path

from cutset_demo.shop import free_addresses, run_shop


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    addresses = free_addresses()
    upstreams = {service: replicas[0] for service, replicas in addresses.items()}
    try:
        with (
            tempfile.TemporaryDirectory(prefix="boutique-") as folder,
            run_shop(addresses, upstreams, work_dir=Path(folder)),
        ):
            sys.stdout.write(f"The shop is open at http://{upstreams['frontend']}/ (Ctrl-C closes it)\n")
            sys.stdout.flush()
            signal.pause()
    except KeyboardInterrupt:
        sys.stdout.write("\n")


if __name__ == "__main__":
    main()
