"""The command line as a user meets it: exit codes, and what is printed where."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.samples.broken_service import broken_service
from tests.samples.campaign import EVENTS, RUN
from typer._click import Context
from typer.main import get_command

from cutset import __version__
from cutset.cli.main import COMMANDS, app, main
from cutset.search.strategies import STRATEGIES
from cutset.store.ledger import open_ledger


def cutset(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cutset", *arguments],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "COLUMNS": "100", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


HELP = Path(__file__).with_name("help.txt")
CONFIG = "requests: [{path: /}]\ntarget: {url: 'http://127.0.0.1:1'}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["explore"],
            "error: Cannot read `cutset.yaml`: No such file or directory\n\nhint: Write one, or name the right",
        ),
        (["explore", "-c", "good.yaml"], "error: The environment variable `CUTSET_KEY` is not set"),
        (
            ["explore", "-c", "good.yaml", "-r", "GET /x"],
            "error: There is no request `GET /x`\n\nhint: Did you mean `GET /`?",
        ),
        (["explore", "--max-size", "0"], "error: Invalid value for '--max-size' / '-k'"),
        (["explore", "--points", "pod"], "error: Invalid value for '--points'"),
        (["explore", "--strategy", "fastfy"], "error: Invalid value for '--strategy'"),
        (["explore", "--certificates", "lax"], "error: Invalid value for '--certificates'"),
        (["explore", "--max-minutes", "-1"], "error: Invalid value for '--max-minutes'"),
        (["explore", "--explain", "a/B", "--resume"], "error: `--resume` and `--explain` exclude each other"),
        (["explore", "--explain", "a/B"], "error: There is no ledger in `.cutset`"),
        (["report", "--explain", "a/B"], "error: There is no ledger in `.cutset`"),
        (["report", "--explain", "a/B", "--list"], "error: `--explain` and `--list` exclude each other"),
        (["report", "-r", "GET /"], "error: `--request` goes with `--explain`"),
        (["demo", "--strategy", "fastfy"], "error: Invalid value for '--strategy'"),
        (["explor"], "error: No such command `explor`"),
        (["report"], "error: There is no ledger in `.cutset`\n\nhint: Run `cutset explore` or `cutset demo` first"),
        (["mesh", "up", "absent.yaml"], "error: Cannot read `absent.yaml`"),
        (["mesh"], ""),
    ],
)
def test_wrong_usage_is_explained_on_standard_error_and_exits_2(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "good.yaml").write_text(CONFIG)

    result = cutset(*arguments, cwd=tmp_path)

    assert result.returncode == 2
    assert result.stderr.startswith(message)
    assert not (tmp_path / ".cutset").exists()


def test_replay_and_resume_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "cutset.yaml").write_text(CONFIG)

    result = cutset("explore", "--replay", "1f3a90bc", "--resume", cwd=tmp_path, CUTSET_KEY="k" * 32)

    assert (result.returncode, result.stderr) == (2, "error: `--replay` and `--resume` exclude each other\n")


def test_nothing_to_resume_and_nothing_to_replay_are_clear_errors(tmp_path: Path) -> None:
    (tmp_path / "cutset.yaml").write_text(CONFIG)

    resumed = cutset("explore", "--resume", cwd=tmp_path, CUTSET_KEY="k" * 32)
    replayed = cutset("explore", "--replay", "1f3a90bc", cwd=tmp_path, CUTSET_KEY="k" * 32)

    assert (resumed.returncode, replayed.returncode) == (2, 2)
    assert resumed.stderr.startswith("error: There is no unfinished campaign to resume\n\nhint:")
    assert replayed.stderr.startswith("error: There is no finding `1f3a90bc`\n\nhint:")


@pytest.mark.parametrize("command", ["explore", "report"])
def test_a_cut_is_explained_from_the_ledger_alone(tmp_path: Path, command: str) -> None:
    with open_ledger(tmp_path / ".cutset") as ledger:
        for event in [RUN, *EVENTS]:
            ledger.append("one", event)

    fails = cutset(command, "--explain", "cart/GetCart + ad/GetAds", "-r", "GET /", cwd=tmp_path)
    survives = cutset(command, "--explain", "ad/GetAds", "-r", "GET /", "--json", cwd=tmp_path)
    unknown = cutset(command, "--explain", "ad/GetAds", cwd=tmp_path)
    wrong = cutset(command, "--explain", "ad/GetAd", cwd=tmp_path)

    assert (fails.returncode, fails.stdout.splitlines()[0]) == (1, "GET /  ✗ fails  ad/GetAds + cart/GetCart")
    assert (survives.returncode, json.loads(survives.stdout)["requests"][0]["verdict"]) == (0, "survived")
    assert unknown.returncode == 3
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (
        2,
        "error: No request of this campaign calls `ad/GetAd`",
    )
    assert "Did you mean `ad/GetAds`" in wrong.stderr


def test_a_target_that_does_not_answer_is_told_at_once_and_leaves_no_campaign(tmp_path: Path) -> None:
    others = "jaeger_compact_port: null, jaeger_binary_port: null, jaeger_http_port: null, zipkin_port: null"
    (tmp_path / "cutset.yaml").write_text(f"{CONFIG}collector: {{http_port: 0, grpc_port: 0, {others}}}\n")

    result = cutset("explore", cwd=tmp_path, CUTSET_KEY="k" * 32)

    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.splitlines() == [
        "error: the entry at 127.0.0.1:1 does not accept connections",
        "",
        "hint: Start the mesh with `cutset mesh up`, or correct `target.url`",
    ]
    assert cutset("report", cwd=tmp_path).returncode == 2


def test_a_request_that_fails_by_itself_could_not_be_told_and_the_report_says_the_same_again(tmp_path: Path) -> None:
    with broken_service() as (url, collector_port):
        (tmp_path / "cutset.yaml").write_text(
            f"requests: [{{path: /}}]\ntarget: {{url: '{url}'}}\nlimits: {{trace_timeout: 2}}\n"
            f"collector: {{http_port: {collector_port}, grpc_port: 0, export_interval: 0.1}}\n"
        )
        result = cutset("explore", cwd=tmp_path, CUTSET_KEY="k" * 32)

    assert result.returncode == 3, result.stderr
    assert "GET /  not tested: unhealthy baseline: 3 of 3 without faults failed: 500 with no text" in result.stdout

    reported = cutset("report", cwd=tmp_path)
    *shown, checked = result.stdout.splitlines()
    assert (reported.returncode, reported.stdout.splitlines()) == (0, shown)
    assert checked.startswith("✓ checked    its claims hold; not all that was asked for is proven of GET /")


def test_the_version_and_the_help_are_on_standard_output(tmp_path: Path) -> None:
    assert cutset("--version", cwd=tmp_path).stdout == f"cutset {__version__}\n"
    for arguments in (["--help"], ["-h"], []):
        help_text = cutset(*arguments, cwd=tmp_path, COLUMNS="80").stdout
        assert [line.rstrip() for line in help_text.strip().splitlines()] == HELP.read_text().strip().splitlines()


def test_a_command_that_needs_another_one_shows_its_help_and_is_no_success(tmp_path: Path) -> None:
    for command in ((), ("mesh",)):
        result = cutset(*command, cwd=tmp_path)
        assert (result.returncode, result.stderr) == (2, "")
        assert "Usage: cutset" in result.stdout


def test_the_help_imports_no_command() -> None:
    program = "import sys; sys.argv[1:] = ['--help']; from cutset.cli.main import app; app(standalone_mode=False)"
    told = "; print(*(name for name in sys.modules if name.startswith('cutset.')), file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", program + told], capture_output=True, text=True, check=True)

    assert {name.split(".")[1] for name in ran.stderr.split()} <= {"cli", "errors", "model"}
    commands = {name for name in ran.stderr.split() if name.startswith("cutset.cli.")}
    assert commands == {"cutset.cli.main", "cutset.cli.output"}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_has_an_example(command: str) -> None:
    group = get_command(app)
    _, found, _ = group.resolve_command(Context(group), [command])
    for name, inner in getattr(found, "commands", {}).items() or [("", found)]:
        *_, example = inner.help.partition("Example")
        assert f"cutset {command}" in example, name


@pytest.mark.parametrize("command", ["demo", "explore"])
def test_the_help_tells_the_strategies_apart(tmp_path: Path, command: str) -> None:
    help_text = " ".join(cutset(command, "--help", cwd=tmp_path, COLUMNS="600").stdout.split())

    for name, strategy in STRATEGIES.items():
        assert f"{name}: {strategy.description}" in help_text


def test_a_reader_that_goes_away_is_no_success(tmp_path: Path) -> None:
    for command in ("--help", "--version", "explor"):
        with subprocess.Popen(
            [sys.executable, "-m", "cutset", command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as ran:
            assert ran.stdout is not None
            ran.stdout.close()

        assert ran.returncode == 141, command


def test_a_full_disk_under_our_output_could_not_be_told(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "cutset", "--version"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert ran.returncode == 3
    assert ran.stderr.startswith("error: [Errno 28] No space left on device\n\nhint: Make room; `--store`, ")


def test_a_full_disk_under_a_task_is_no_mistake_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(**_: object) -> None:
        raise ExceptionGroup("tasks", [OSError(errno.ENOSPC, "No space left on device", "store/plan.json")])

    monkeypatch.setattr("cutset.cli.main.app", full)
    monkeypatch.setattr("signal.signal", lambda *_: None)

    with pytest.raises(SystemExit) as end:
        main()

    said = capsys.readouterr().err
    assert end.value.code == 3
    assert said.startswith("error: [Errno 28] No space left on device: 'store/plan.json'\n\nhint: Make room")


def test_a_mistake_of_ours_does_not_look_like_findings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("cutset.cli.main.app", broken)
    monkeypatch.setattr("signal.signal", lambda *_: None)

    with pytest.raises(SystemExit) as end:
        main()

    said = capsys.readouterr().err
    assert end.value.code == 3
    assert "Traceback (most recent call last):" in said
    assert "KeyError: 'lost'\nerror: This is a mistake in Cutset, not of yours\n" in said
