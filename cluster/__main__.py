"""A laboratory with a real Kubernetes and Istio control plane, which ends with the command that it was for."""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cluster import boutique, build, control_plane, kubelet, network, shops
from cluster.api import Api
from cluster.processes import LaboratoryError, Place, run
from cluster.requirements import NAMESPACES

FOLDERS = "cutset-laboratory-"
WATCHERS = Path("/proc/sys/fs/inotify/max_user_instances")  # of the whole machine
WATCHERS_NEEDED = 4096  # for several laboratories with dozens of pods each; the kernel gives 128
SHOPS = ("none", "small", "boutique")


def main() -> int:
    arguments = _arguments()
    if arguments.action == "enter":
        return _enter(arguments.command)
    if arguments.action != "inside":
        return _separate(arguments)
    place = Place(arguments.binaries, arguments.run)
    try:
        return _inside(place, arguments.shop, arguments.command)
    except LaboratoryError as error:
        print(f"laboratory: {error}", file=sys.stderr)
        return 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m cluster", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    helps = {
        "run": "a laboratory for one command",
        "up": "a laboratory that stays until Ctrl-C",
        "enter": "a command in the laboratory that stays",
    }
    for name, text in helps.items():
        action = actions.add_parser(name, help=text)
        if name != "enter":
            action.add_argument("--shop", choices=SHOPS, default="small", help="what runs in it (default: small)")
            action.add_argument("--keep-logs", action="store_true", help="leave the folder with the logs")
        if name != "up":
            action.add_argument("command", nargs="+", metavar="-- COMMAND")
    inside = actions.add_parser("inside")
    inside.add_argument("binaries", type=Path)
    inside.add_argument("run", type=Path)
    inside.add_argument("shop")
    inside.add_argument("command", nargs="*")
    return parser.parse_args()


def _separate(arguments: argparse.Namespace) -> int:
    """Runs this again in namespaces of its own: whatever ends it, nothing in them is left."""
    binaries = Path(os.environ.get("CLUSTER_BIN") or build.folder())
    folder = Path(tempfile.mkdtemp(prefix=FOLDERS))
    folder.chmod(0o755)
    command = arguments.command if arguments.action == "run" else []
    inside = [sys.executable, "-m", "cluster", "inside", str(binaries), str(folder), arguments.shop, "--", *command]
    ends_with_us = ("setpriv", "--pdeathsig", "KILL")
    process = subprocess.Popen([*ends_with_us, *NAMESPACES, "--mount-proc", *inside])
    (folder / "process").write_text(str(process.pid))
    signal.signal(signal.SIGTERM, lambda *_: process.kill())  # `unshare` hears nothing else, and takes all with it
    while True:
        try:
            code = process.wait()
            break
        except KeyboardInterrupt:  # the laboratory got it, too, and ends by itself
            continue
    if (code and arguments.action == "run") or arguments.keep_logs:
        print(f"laboratory: logs are in {folder / 'logs'}", file=sys.stderr)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return code


def _inside(place: Place, shop: str, command: list[str]) -> int:
    started = time.monotonic()
    os.umask(0o022)  # what is mounted into pods is read by users that are not root
    # `python` and `cutset`, in pods and in the command, are those of the environment that runs us.
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"

    def say(text: str) -> None:
        print(f"laboratory: {time.monotonic() - started:5.1f} s  {text}", file=sys.stderr, flush=True)

    before = int(WATCHERS.read_text())
    if before < WATCHERS_NEEDED:
        WATCHERS.write_text(str(WATCHERS_NEEDED))
        say(f"raised {WATCHERS} from {before} to {WATCHERS_NEEDED}: every pod's proxy takes a few")
    for folder, options in ((place.run / "volatile", "mode=0755"), (Path("/run/netns"), "mode=0755")):
        folder.mkdir(exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder)
    network.set_up_bridge()
    api = control_plane.start_kubernetes(place)
    say("kube-apiserver is ready")
    network.keep_names_and_routes(place, api, place.run / "volatile/hosts")
    control_plane.install_definitions(place, api)
    kubelet.serve(place, api)
    control_plane.start_istiod(place, api)
    say("istiod is ready")
    facts = {"KUBECONFIG": str(place.run / "kubeconfig"), "CLUSTER_RUN": str(place.run)}
    facts["CLUSTER_PROJECT"] = str(shops.PROJECT)
    if shop != "none":
        facts |= _open(place, api, shop)
        say(f"the shop is at {facts['CLUSTER_GATEWAY']}")
    (place.run / "facts.json").write_text(json.dumps(facts))
    if command:
        return subprocess.run(command, check=False, env=os.environ | facts).returncode
    say("python -m cluster enter -- COMMAND runs a command in here; Ctrl-C ends it")
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()
    return 0


def _open(place: Place, api: Api, shop: str) -> dict[str, str]:
    """What tells a command about the shop, when all its pods are ready."""
    if shop == "boutique":
        boutique.start_stores(place)
        api.apply(*boutique.boutique())
        space = gateway = boutique.NAMESPACE
    else:
        space, gateway = shops.NAMESPACE, "ingress"
        api.apply(*shops.small_shop(), *shops.ingress_gateway(), *shops.route(space, "frontend", 8080))
    shops.wait_until_available(place, api)
    return {"CLUSTER_GATEWAY": shops.gateway_url(place, api, gateway), "CLUSTER_NAMESPACE": space}


def _enter(command: list[str]) -> int:
    """In the laboratory that was brought up last, from this very folder of the project."""
    folders = sorted(Path(tempfile.gettempdir()).glob(f"{FOLDERS}*/facts.json"), key=lambda path: path.stat().st_mtime)
    for file in reversed(folders):
        facts = json.loads(file.read_text())
        outer = (file.parent / "process").read_text()
        children = Path(f"/proc/{outer}/task/{outer}/children")
        if (
            facts.get("CLUSTER_PROJECT") == str(shops.PROJECT)
            and children.exists()
            and (inner := children.read_text().split())
        ):
            target = ["nsenter", "--target", inner[0], "--net", "--mount", "--pid", f"--wdns={Path.cwd()}", "--"]
            return subprocess.run([*target, *command], check=False, env=os.environ | facts).returncode
    print("laboratory: none is up; `python -m cluster up` brings one up", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
