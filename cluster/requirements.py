"""Whether this machine can run the laboratory at all; if not, one line says what it lacks, and nothing is begun."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMESPACES = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child")
_SYSTEM = "/usr/local/sbin:/usr/sbin:/sbin"  # not on everybody's PATH, and where iptables and ip are


def on_path(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:{_SYSTEM}")


def lacking(binaries: Path, *, built: bool) -> str:
    """What is missing here, as a sentence; empty if nothing is. What is built already needs no compiler."""
    if not built and on_path("go") is None:
        return "Go is not installed, and the control plane is not built yet (go.mod says which version it takes)"
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "unshare"):
        if on_path(program) is None:
            return f"`{program}` is not installed"
    if subprocess.run((*NAMESPACES, "true"), capture_output=True, check=False).returncode:
        return "this machine does not allow network namespaces"
    unpacked = (binaries / "iptables").is_dir()
    if not unpacked and on_path("iptables") is None and (on_path("apt-get") is None or on_path("dpkg") is None):
        return "`iptables` is not installed"
    return ""


def hidden_from_pods() -> str:
    """What is installed here is to be found in pods, too; some have a /tmp of their own. Empty if it is found."""
    return f"{sys.prefix} is in /tmp, where pods see only their own" if Path(sys.prefix).is_relative_to("/tmp") else ""


def iptables_environment(binaries: Path) -> dict[str, str]:
    """PATH and libraries with which `iptables` runs: the system's own, or Debian's from where it was unpacked."""
    path = f"{os.environ.get('PATH', '')}:{_SYSTEM}"
    root = binaries / "iptables"
    if not root.is_dir():
        return {"PATH": path}
    libraries = next(root.glob("usr/lib/*/xtables")).parent
    return {
        "PATH": f"{root}/usr/sbin:{path}",
        "LD_LIBRARY_PATH": str(libraries),
        "XTABLES_LIBDIR": str(libraries / "xtables"),
    }


def refused_by_kernel(binaries: Path) -> str:
    """Why `iptables` does not work in a network namespace of its own; empty if it does."""
    environment = os.environ | iptables_environment(binaries)
    command = (*NAMESPACES, "iptables", "--table", "nat", "--list")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return f"iptables does not work here: {done.stderr.strip().splitlines()[-1:]}" if done.returncode else ""
