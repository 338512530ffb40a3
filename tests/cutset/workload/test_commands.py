import asyncio
import json
import sys
from functools import partial
from pathlib import Path

import pytest

from cutset.errors import UsageError
from cutset.model.request import Request, Response, WorkloadStep
from cutset.workload.commands import run_command
from cutset.workload.send import open_client, send

PLAN = {"traceparent": "00-1-2-01", "tracestate": "cutset=plan", "uber-trace-id": "1:2"}


def answer_of(tmp_path: Path, script: str, *words: str, timeout: float = 20.0) -> Response:
    (tmp_path / "shop.sh").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "shop.sh").chmod(0o755)
    step = WorkloadStep("shop.sh", partial(run_command, words or ("./shop.sh", "{session}"), tmp_path))

    async def run() -> Response:
        async with open_client(1) as client:
            return await send(
                client,
                Request("shop", step),
                base_url="http://target.test:1/",
                plan=lambda: PLAN,
                setup_headers=dict,
                timeout=timeout,
                session="s1",
            )

    return asyncio.run(run())


def test_a_command_gets_the_plan_by_its_environment_and_prints_the_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("CUTSET_KEY", "a key that is nobody's business")
    told = (
        "import json, os; print(json.dumps([json.loads(os.environ['CUTSET_HEADERS']), *map(os.environ.get, "
        "('TRACEPARENT', 'TRACESTATE', 'BAGGAGE', 'CUTSET_URL', 'CUTSET_SESSION', 'CUTSET_KEY'))]))"
    )
    response = answer_of(tmp_path, "", sys.executable, "-c", told)

    assert (response.status, response.content_type, response.exchanges) == (200, "application/json", 0)
    assert json.loads(response.body) == [
        PLAN,
        "00-1-2-01",
        "cutset=plan",
        None,
        "http://target.test:1",
        "s1",
        None,
    ]


def test_a_program_is_found_in_the_folder_and_its_words_are_filled_in(tmp_path):
    response = answer_of(tmp_path, "echo bought by $1")
    assert (response.status, response.content_type, response.body) == (
        200,
        "text/plain; charset=utf-8",
        b"bought by s1\n",
    )


def test_variables_are_those_of_the_command(tmp_path):
    response = answer_of(tmp_path, "", "sh", "-c", "echo ${CUTSET_URL}/{session}")
    assert response.body == b"http://target.test:1/s1\n"


def test_all_headers_are_in_a_file_as_curl_reads_it(tmp_path):
    lines = "traceparent: 00-1-2-01\ntracestate: cutset=plan\nuber-trace-id: 1:2\n"
    assert answer_of(tmp_path, "cat $CUTSET_HEADER_FILE").body.decode() == lines


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("echo fine; echo first >&2; echo the cart is empty >&2; exit 3", "the cart is empty"),
        ("exit 4", "`./shop.sh` ended with 4"),
        ("kill -9 $$", "`./shop.sh` ended with -9"),
        ("yes", "`./shop.sh` flooded"),
    ],
)
def test_another_exit_code_than_0_is_no_answer(tmp_path, script, error):
    response = answer_of(tmp_path, script)
    assert (response.status, response.error) == (0, error)


def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path):
    response = answer_of(tmp_path, "sleep 600 & echo $! > child; wait", timeout=1.0)

    assert response.error in ("no answer within 1s", "`./shop.sh` timed out")
    assert not Path(f"/proc/{(tmp_path / 'child').read_text().strip()}").exists()


def test_a_command_that_does_not_start_is_no_experiment(tmp_path):
    with pytest.raises(UsageError, match=r"The command `./other` of a request does not start: cannot run `./other`"):
        answer_of(tmp_path, "", "./other")
