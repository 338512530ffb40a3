"""Builds what the laboratory consists of, once: `python -m cluster.build [COMMAND …]`.

No registry has a package with an API server or istiod, but the Go module proxy has their sources by version, and go.sum
their checksums. Everything goes into one folder outside the tree, named by the hash of what it is made from, which
appears only when it is whole; CLUSTER_BIN names one that was built elsewhere. COMMAND is run afterwards, with
CLUSTER_BIN set. Where the laboratory cannot run, one line says why and COMMAND is left out: that is no error.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from cluster.requirements import hidden_from_pods, lacking, on_path, refused_by_kernel

HERE = Path(__file__).parent
ISTIO_VERSION = "1.31.0"  # of the commit in go.mod, on its release branch: Istio's module has no such tag
CONTROL_PLANE = (
    "k8s.io/kubernetes/cmd/kube-apiserver",
    "k8s.io/kubernetes/cmd/kube-controller-manager",
    "istio.io/istio/pilot/cmd/pilot-discovery",
    "istio.io/istio/pilot/cmd/pilot-agent",
    "go.etcd.io/etcd/server/v3",
    "./portforward",
)
JAEGER = ("github.com/jaegertracing/jaeger/cmd/jaeger",)
CHART = "manifests/charts/istio-control/istio-discovery"
FILES = {  # name here → module, files there
    "crds.yaml": ("istio.io/api", "kubernetes/customresourcedefinitions.gen.yaml"),
    "gateway-api-crds.yaml": ("sigs.k8s.io/gateway-api", "config/crd/standard/gateway.networking.k8s.io_[!v]*.yaml"),
    "envoy_bootstrap.json": ("istio.io/istio", "tools/packaging/common/envoy_bootstrap.json"),
    "injection-template.yaml": ("istio.io/istio", f"{CHART}/files/injection-template.yaml"),
    "gateway-injection-template.yaml": ("istio.io/istio", f"{CHART}/files/gateway-injection-template.yaml"),
    "kube-gateway.yaml": ("istio.io/istio", f"{CHART}/files/kube-gateway.yaml"),
    "injection-values.yaml": ("istio.io/istio", f"{CHART}/values.yaml"),
}
PROGRAMS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "pilot-discovery",
    "pilot-agent",
    "portforward",
    "jaeger",
)
IPTABLES = ("iptables", "libip4tc2", "libip6tc2", "libxtables12", "libmnl0", "libnetfilter-conntrack3", "libnfnetlink0")
IPTABLES_LINKS = ("iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore")
NEWS_SECONDS = 20  # between two lines of progress while Go compiles

Say = Callable[[str], None]


class BuildError(Exception):
    """Something could not be built or fetched."""


def folder() -> Path:
    """Where everything is, or will be: a folder of the user's cache that is named by what it is made from."""
    digest = hashlib.sha256()
    for pattern in ("*/go.mod", "*/go.sum", "*/**/*.go"):
        for path in sorted(HERE.glob(pattern)):
            digest.update(str(path.relative_to(HERE)).encode() + b"\0" + path.read_bytes() + b"\0")
    return cache() / digest.hexdigest()[:16]


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cutset" / "cluster"


def absent(place: Path) -> list[str]:
    """What is not there of all that a laboratory takes."""
    names = [name for name in (*PROGRAMS, *FILES) if not (place / name).is_file()]
    return names if (place / "iptables").is_dir() or on_path("iptables") else [*names, "iptables"]


def build(place: Path, say: Say) -> None:
    """Into a temporary folder beside it, renamed when it is whole. Two at once: the second waits for the first."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with (place.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not absent(place):
            return
        temporary = Path(tempfile.mkdtemp(dir=place.parent, prefix=".building-"))
        try:
            say(f"building the control plane into {place}: some ten minutes of two cores, once")
            unpack_iptables(temporary, say)
            compile_programs(temporary, say)
            copy_files(temporary)
            shutil.rmtree(place, ignore_errors=True)
            temporary.chmod(0o755)
            temporary.rename(place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def compile_programs(place: Path, say: Say) -> None:
    module = HERE / "controlplane"
    kubernetes = _run("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes", cwd=module).strip()
    major, minor, _ = kubernetes.removeprefix("v").split(".", 2)
    name = "k8s.io/component-base/version"
    said = {f"{name}.gitVersion": kubernetes, f"{name}.gitMajor": major, f"{name}.gitMinor": minor}
    said["istio.io/istio/pkg/version.buildVersion"] = ISTIO_VERSION
    _compile(module, CONTROL_PLANE, place, " ".join(f"-X {key}={value}" for key, value in said.items()), say)
    (place / "server").rename(place / "etcd")
    _compile(HERE / "jaeger", JAEGER, place, "", say)


def _compile(module: Path, packages: Sequence[str], place: Path, flags: str, say: Say) -> None:
    what = ", ".join(package.removesuffix("/server/v3").rpartition("/")[2] for package in packages)
    say(f"compiling {what}")
    options = ("-v", "-trimpath", "-buildvcs=false", "-ldflags", f"-s -w {flags}".strip(), "-o", f"{place}/")
    started = told = time.monotonic()
    lines: list[str] = []
    with subprocess.Popen(
        (_go(), "build", *options, *packages),
        cwd=module,
        env=os.environ | {"CGO_ENABLED": "0"},
        stderr=subprocess.PIPE,
        text=True,
    ) as compiler:
        assert compiler.stderr is not None
        for line in compiler.stderr:
            lines.append(line)
            if time.monotonic() - told >= NEWS_SECONDS:
                told = time.monotonic()
                say(f"  {len(lines)} packages after {told - started:.0f} s, now {line.strip()}")
    if compiler.returncode:
        raise BuildError(f"go build of {what} failed:\n{''.join(lines[-20:])}")
    say(f"  took {time.monotonic() - started:.0f} s")


def copy_files(place: Path) -> None:
    for name, (module, pattern) in FILES.items():
        source = Path(_run("go", "list", "-m", "-f", "{{.Dir}}", module, cwd=HERE / "controlplane").strip())
        found = sorted(source.glob(pattern))
        if not found:
            raise BuildError(f"{module} has no {pattern} any more")
        (place / name).write_text("\n---\n".join(path.read_text() for path in found))


def unpack_iptables(place: Path, say: Say) -> None:
    """Debian's, without installing it, where there is none: Istio's redirections are made with it."""
    if on_path("iptables"):
        return
    say("fetching iptables")
    packages = place / "packages"
    packages.mkdir()
    _run("apt-get", "-o", "APT::Sandbox::User=root", "download", *IPTABLES, "libnftnl11", cwd=packages)
    for package in packages.iterdir():
        _run("dpkg", "-x", str(package), str(place / "iptables"), cwd=place)
    for link in IPTABLES_LINKS:  # the package leaves them to Debian's alternatives
        (place / "iptables/usr/sbin" / link).symlink_to("xtables-nft-multi")
    shutil.rmtree(packages)


def _go() -> str:
    return on_path("go") or "go"


def _run(*command: str, cwd: Path) -> str:
    program = _go() if command[0] == "go" else command[0]
    done = subprocess.run((program, *command[1:]), cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout


def main(command: list[str]) -> int:
    named = os.environ.get("CLUSTER_BIN")
    place = Path(named) if named else folder()
    left = absent(place)
    if named and left:  # never built into: it is somebody else's
        print(f"error: CLUSTER_BIN={named} lacks {', '.join(left)}", file=sys.stderr)
        return 1
    if reason := lacking(place, built=not left) or hidden_from_pods():
        print(f"skipped: {reason}")
        return 0
    try:
        if left:
            build(place, lambda news: print(news, file=sys.stderr, flush=True))
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if reason := refused_by_kernel(place):
        print(f"skipped: {reason}")
        return 0
    if command:
        sys.stdout.flush()
        os.execvpe(command[0], command, os.environ | {"CLUSTER_BIN": str(place)})
    print(place)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
