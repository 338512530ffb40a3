"""Sessions of pytest with the plugin, on a real shop behind a real mesh."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = """
import pytest

@pytest.mark.cutset(max_size=2, effects=["abort(503)"])
def test_page(cutset):
    answer = cutset.get("/page")
    if cutset.fired_only("ad"):
        assert answer.status_code == 200
    elif cutset.fired:
        assert answer.status_code == 503, "not graceful"
    else:
        assert answer.json()["parts"]

def test_another():
    pass
"""
ENDINGS = """
import pytest

RUNS = []

@pytest.mark.cutset
def test_broken_without_a_fault(cutset):
    RUNS.append(cutset.get("/page").status_code)
    assert RUNS == []

def test_that_was_found_out_at_once():
    assert RUNS == [200]

@pytest.mark.cutset
def test_skipped(cutset):
    pytest.skip("not today")

@pytest.mark.cutset(max_size=1)
def test_skipped_with_a_fault(cutset):
    if cutset.get("/page").status_code == 500:
        pytest.skip("who knows")

@pytest.mark.cutset(max_size=1)
def test_expected_to_fail_with_a_fault(cutset):
    if cutset.get("/page").status_code == 500:
        pytest.xfail("known")

@pytest.mark.cutset(max_size=1)
def test_sends_nothing(cutset):
    pass

@pytest.mark.cutset(max_size=1)
def test_makes_calls_that_no_plan_reaches(cutset):
    cutset.get("/fresh")

@pytest.mark.cutset(size=1)
def test_misspelt(cutset):
    pass
"""
CLIENTS = """
import asyncio, threading
from concurrent.futures import ThreadPoolExecutor
import aiohttp, httpx, pytest, requests, urllib3

def by_httpx(url): return httpx.get(url, trust_env=False).status_code
def by_requests(url): return requests.get(url).status_code
def by_urllib3(url): return urllib3.PoolManager().request("GET", url, retries=False).status

def in_thread(url):
    found = []
    thread = threading.Thread(target=lambda: found.append(by_urllib3(url)))
    thread.start()
    thread.join()
    return found[0]

def in_pool(url):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(by_urllib3, url).result()

def in_loop(url):
    async def ask():
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return answer.status
    return asyncio.run(ask())

@pytest.mark.cutset(max_size=1)
def test_all(cutset):
    clients = [by_httpx, by_requests, by_urllib3, in_thread, in_pool, in_loop]
    found = [client(cutset.url + "/page") for client in clients]
    assert cutset.fired == cutset.cut
    assert found == [500 if cutset.fired_only("cart/GET /items") else 200] * len(clients)

def test_nothing_is_left():
    hooked = [threading.Thread.start, httpx.HTTPTransport.handle_request, aiohttp.ClientSession._request]
    assert not any(hasattr(each, "_cutset_hook") for each in hooked)

@pytest.mark.anyio
@pytest.mark.cutset(max_size=1)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_coroutine(cutset, anyio_backend):
    async with httpx.AsyncClient(trust_env=False) as client, asyncio.TaskGroup() as group:
        asked = group.create_task(client.get(cutset.url + "/page"))
    answer = await cutset.get("/page")
    assert answer.status_code == asked.result().status_code
    assert await cutset.fired == cutset.cut
    assert answer.status_code == (500 if await cutset.fired_only("cart") else 200)
"""


def test_a_failing_cut_is_found_tried_again_and_accepted(explore, pytester):
    found = explore(PAGE, "--cutset")

    found.assert_outcomes(failed=1, passed=1)
    found.stdout.fnmatch_lines(
        [
            '>           assert answer.status_code == 503, "not graceful"',
            "E           x fails with cart/GET /items",
            "*= cutset =*",
            "test_shop.py::test_page  [[]*",
            "  complete up to size 2 for abort(503): * experiments, * runs of the body",
            "  x fails with cart/GET /items",
            "      AssertionError: not graceful",
            "      pytest * --cutset-replay ????????",
        ]
    )
    (finding,) = set(re.findall("--cutset-replay ([0-9a-f]{8})", found.stdout.str()))
    (campaign,) = re.findall(r"test_page  \[(.+)\]", found.stdout.str())

    again = explore(PAGE, "--cutset-replay", finding)

    again.assert_outcomes(failed=1, deselected=1)
    again.stdout.fnmatch_lines(
        ["E           still fails with cart/GET /items:abort(503): AssertionError: not graceful"]
    )

    command = [sys.executable, "-m", "cutset", "baseline", campaign, "-o", "accepted.yaml"]
    subprocess.run(command, check=True, cwd=pytester.path)
    accepted = explore(PAGE, "--cutset", "--cutset-against", "accepted.yaml")

    accepted.assert_outcomes(passed=2)
    accepted.stdout.fnmatch_lines(["  x accepted: fails with cart/GET /items"])


def test_without_the_option_a_test_runs_once_without_faults(explore):
    result = explore(PAGE)

    result.assert_outcomes(passed=2)
    result.stdout.no_fnmatch_line("*= cutset =*")


def test_bodies_end_in_many_ways(explore):
    result = explore(ENDINGS, "--cutset", "-rA")

    result.assert_outcomes(passed=1, failed=5, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines_random(
        [
            "SKIPPED *: not today",
            "XFAIL *test_expected_to_fail_with_a_fault - known",
            "FAILED *test_broken_without_a_fault - assert [[]200[]] == [[][]]*",
            "  ? unknown: cart/GET /items: the test skipped itself: who knows",
            "  ? no span of the request arrived, so nothing could be proved*",
            "  ? not coverable: currency/GET /convert: called * without the trace context, so no plan reaches it",
            "the mark `cutset` has no size; it has max_size, effects, *",
        ]
    )


def test_what_is_left_open_fails_unless_the_ini_file_says_otherwise(explore):
    result = explore(PAGE, "--cutset", "--cutset-budget=1", "-o", "cutset_incomplete=skip", "-rs", "-k", "page")

    # The one experiment may be the one that fails.
    outcomes = result.parseoutcomes()
    assert set(outcomes) & {"skipped", "failed"}
    result.stdout.fnmatch_lines(["*the budget of experiments is spent*"])


def test_all_clients_carry_the_plan_by_themselves_and_only_while_a_body_runs(explore):
    explore(CLIENTS, "--cutset").assert_outcomes(passed=3)


def test_workers_of_xdist_take_turns_and_the_first_failure_ends_the_session(explore):
    twice = PAGE + PAGE.replace("test_page", "test_page_again").replace("test_another", "test_third")

    found = explore(twice, "--cutset", "-n", "2", "-x")

    assert found.parseoutcomes()["failed"] == 1
    found.stdout.fnmatch_lines(["*= cutset =*", "  x fails with cart/GET /items"])


def test_the_plugin_loads_nothing_of_cutset_when_pytest_starts():
    unwanted = "('cutset', 'cutset_agent', 'aiohttp', 'grpc')"
    code = f"import sys, cutset_pytest; print([name for name in {unwanted} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert told.stdout == "[]\n"


def test_pytest_finds_the_plugin_by_its_entry_point():
    project = Path(__file__).parents[2] / "pyproject.toml"

    assert 'cutset_pytest = "cutset_pytest"' in project.read_text()
