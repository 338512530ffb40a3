"""`cutset demo`, as a newcomer runs it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import httpx
import psutil
import pytest
import yaml

import cutset_demo

CUTSET = [sys.executable, "-m", "cutset"]
WEAKNESSES = yaml.safe_load((Path(cutset_demo.__file__).parent / "WEAKNESSES.yaml").read_text())["requests"]


GET_PRODUCT = "productcatalog/GetProduct:abort(503)"


def demo(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CUTSET, "demo", *arguments], cwd=cwd, capture_output=True, text=True, timeout=240, check=False
    )


def cuts_of(request: dict[str, list[dict[str, list[str]]]]) -> set[frozenset[str]]:
    return {frozenset(fault.partition(":")[0] for fault in finding["cut"]) for finding in request["findings"]}


def expected(entry: dict[str, Any], effects: set[str], size: int) -> set[frozenset[str]]:
    """The cuts that these effects alone can show."""
    more = (
        frozenset(at) for at in entry["more"] if len(at) <= size and all(effects & set(each) for each in at.values())
    )
    return {*map(frozenset, entry["cuts"]), *more}


def test_finds_exactly_the_answer_key_of_every_request_class(tmp_path: Path) -> None:
    result = demo("--json", cwd=tmp_path)

    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["complete"]
    found = {request["name"]: cuts_of(request) for request in document["requests"]}
    assert found == {
        name: expected(entry, {"abort(503)", "connection-refused"}, 3) for name, entry in WEAKNESSES.items()
    }
    not_reached = {request["name"]: request["not_reached"] for request in document["requests"]}
    assert not_reached == {name: entry.get("not_reached", []) for name, entry in WEAKNESSES.items()}

    assert document["strategy"] == "cuts"
    assert document["requests_per_experiment"] >= 1
    assert all(request["assumption"] and request["rounds"] for request in document["requests"])

    finding = document["requests"][0]["findings"][0]
    replayed = demo("--replay", finding["id"], cwd=tmp_path)
    assert replayed.returncode == 1
    assert replayed.stdout.startswith("x still fails  GET /")


def test_finds_what_only_slow_answers_and_dead_stores_show(tmp_path: Path) -> None:
    chosen = ("--request", "GET /product-meta/{id}", "--effect", "abort(503)", "--effect", "timeout")
    result = demo(*chosen, "--json", cwd=tmp_path)

    assert result.returncode == 0, result.stderr
    (meta,) = json.loads(result.stdout)["requests"]
    cuts = {frozenset(finding["cut"]) for finding in meta["findings"]}
    get = "cache>cache/redis/get redis/1"
    assert {frozenset({f"{get}:connection-refused"}), frozenset({f"{get}:timeout", GET_PRODUCT})} <= cuts
    assert frozenset({f"{get}:timeout"}) not in cuts


def test_finds_the_same_down_to_single_replicas(tmp_path: Path) -> None:
    result = demo("--points", "replica", "--json", cwd=tmp_path)

    assert result.returncode == 0, result.stderr
    (home,) = json.loads(result.stdout)["requests"]
    assert cuts_of(home) == {
        frozenset(f"{api}#{replica}" for api in cut for replica in (1, 2)) for cut in WEAKNESSES["GET /"]["cuts"]
    }


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_nothing_is_left_behind_however_it_ends(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = subprocess.Popen(
        [*CUTSET, "demo"], cwd=tmp_path, env=os.environ | {"TMPDIR": str(temporary)}, stderr=subprocess.DEVNULL
    )
    ledger = tmp_path / ".cutset" / "ledger.sqlite"
    while not ledger.exists():  # the shop is up and the campaign has begun
        assert process.poll() is None
        time.sleep(0.05)
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 6

    process.send_signal(sent)

    assert process.wait(30) == code
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
    if sent is not signal.SIGKILL:
        assert list(temporary.iterdir()) == []


def test_with_the_dashboard_it_is_watched_and_then_experimented_on_until_ctrl_c(tmp_path: Path) -> None:
    command = [*CUTSET, "demo", "--ui", "-r", "GET /cart", "--json"]
    with (
        subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process,
        httpx.Client(follow_redirects=True, timeout=120) as browser,
    ):
        assert process.stderr
        try:
            link = re.match(r"Dashboard +(http://\S+/)\?token=\S+", _line(process.stderr, "Dashboard"))
            assert link
            browser.get(link[0].split()[-1])
            home, origin = link[1], {"origin": link[1].rstrip("/")}
            assert "more can be started from here" in browser.get(f"{home}campaigns").text
            _line(process.stderr, "Experiment on it in the dashboard")
            children = psutil.Process(process.pid).children(recursive=True)

            def post(path: str, **form: str) -> None:
                assert browser.post(f"{home}{path}", data=form, headers=origin).status_code == 200
                assert "event: end" in browser.get(f"{home}live/campaigns").text  # when nothing runs any more

            post("campaigns", request="GET /cart", max_size="2", experiments="3")
            page = browser.get(f"{home}campaigns").text
            assert (page.count("> finished<"), page.count("> unfinished<")) == (1, 1)
            post("campaigns/resume", experiments="0")
            page = browser.get(f"{home}campaigns").text
            assert (page.count("> finished<"), page.count("> unfinished<")) == (2, 0)
            overview = browser.get(home).text
            assert "complete up to size 2" in overview
            assert "What changed" in overview

            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
            assert psutil.wait_procs(children, timeout=20)[1] == []
        except httpx.TransportError as error:
            process.kill()
            error.add_note(process.stderr.read())  # why it ended, should it have ended by itself
            raise
        finally:
            process.kill()


def _line(stream: IO[str], beginning: str) -> str:
    """The next that begins so."""
    said = []
    for line in stream:
        said.append(line)
        if line.startswith(beginning):
            return line
    pytest.fail("".join(said))
