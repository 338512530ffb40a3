"""`python -m cutset_demo.flaws NAME --variant broken --port 8000` runs one of the small services until SIGTERM."""

import argparse
import importlib

from starlette.applications import Starlette

from cutset_demo.flaws.dependency import start_dependency
from cutset_demo.flaws.serving import FlawSettings, serve, serve_by_workers

NAMES = (
    "hung-worker",
    "swallowed-publish",
    "stale-pool",
    "doubled-write",
    "cache-takes-down",
    "poison-message",
    "unbounded-retry",
    "open-transaction",
    "wrong-fallback",
    "stuck-circuit",
)


def main() -> None:
    options = _parser().parse_args()
    settings = FlawSettings(
        broken=options.variant == "broken",
        redis=options.redis,
        postgres=options.postgres,
        nats=options.nats,
        dependency=options.dependency or start_dependency(),
    )
    # Only the one: the service should load no library that it does not use.
    module = importlib.import_module(f"cutset_demo.flaws.{options.name.replace('-', '_')}")
    application = module.application(settings)
    if isinstance(application, Starlette):
        serve(application, options.port)
    else:
        serve_by_workers(application, options.port)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m cutset_demo.flaws", description="A small service with a bug")
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--variant", choices=("broken", "correct"), required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--redis", default="redis://127.0.0.1:6379/0")
    parser.add_argument("--postgres", default="postgresql://postgres@127.0.0.1:5432/postgres")
    parser.add_argument("--nats", default="nats://127.0.0.1:4222")
    parser.add_argument("--dependency", help="the HTTP service that some call; by default one is started within")
    return parser


if __name__ == "__main__":
    main()
