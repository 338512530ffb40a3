"""Reports and exchanges on their way: nothing is lost while there is room, and the host never waits."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from tests.cutset_agent.conftest import receiver

from cutset_agent import outbox
from cutset_agent.outbox import Outbox


@pytest.fixture
def received():
    with receiver() as received:
        yield received


def lines(items):
    return "\n".join(json.dumps(item) for item in items).encode()


def outbox_to(received, limit=1000):
    return Outbox(f"{received.url}/v1/exchanges", "application/x-ndjson", lines, limit)


def test_items_arrive_in_order_and_in_batches(received):
    box = outbox_to(received)
    for number in range(500):
        box.put(number)
    assert box.flush()
    assert received.exchanges == list(range(500))
    assert 3 <= received.posts < 20


@pytest.mark.parametrize("status", [503, 429])
def test_what_could_not_be_taken_is_sent_again(received, monkeypatch, status):
    monkeypatch.setattr(outbox, "RETRY_SECONDS", 0.01)
    received.statuses += [status, status]
    box = outbox_to(received)
    box.put(1)
    assert box.flush()
    assert (received.exchanges, received.posts, box.dropped) == ([1], 3, 0)


@pytest.mark.parametrize("status", [400, 413, 507])
def test_what_is_refused_is_dropped_and_counted(received, status):
    received.statuses.append(status)
    box = outbox_to(received)
    box.put(1)
    assert box.flush()
    box.put(2)
    assert box.flush()
    assert (received.exchanges, box.dropped) == ([2], 1)


def test_what_does_not_fit_is_dropped_and_counted(monkeypatch):
    box = Outbox("http://127.0.0.1:9/v1/traces", "application/json", lines, 10)
    for number in range(300):
        box.put(number)
    assert box.dropped >= 300 - 2 * 10
    assert not box.flush(0.05)


def test_large_items_make_small_batches(received):
    box = outbox_to(received, limit=10 << 20)
    for number in range(8):
        box.put(number, 600_000)
    assert box.flush()
    assert received.exchanges == list(range(8))
    assert received.posts == 8
    box.put("too large", 11 << 20)
    assert box.dropped == 1


def test_what_cannot_be_encoded_does_not_stop_the_rest(received):
    box = outbox_to(received)
    box.put(object())
    assert box.flush()
    box.put(1)
    assert box.flush()
    assert (received.exchanges, box.dropped) == ([1], 1)


def run(source, url):
    program = textwrap.dedent(source)
    environment = {**os.environ, "URL": url}
    return subprocess.run([sys.executable, "-c", program], env=environment, timeout=20, check=True)


def test_what_is_left_is_sent_when_the_process_ends(received):
    run(
        """
        import json, os
        from cutset_agent.outbox import Outbox
        box = Outbox(os.environ["URL"] + "/v1/exchanges", "x", lambda items: json.dumps(items).encode(), 10)
        box.put("last words")
        """,
        received.url,
    )
    assert received.exchanges == [["last words"]]


def test_a_forked_child_sends_what_is_its_own(received):
    run(
        """
        import json, os
        from cutset_agent.outbox import Outbox
        encode = lambda items: "\\n".join(map(json.dumps, items)).encode()
        box = Outbox(os.environ["URL"] + "/v1/exchanges", "x", encode, 10)
        box.put("parent, before")
        child = os.fork()
        box.put("parent" if child else "child")
        box.flush()
        if child:
            os.waitpid(child, 0)
        else:
            os._exit(0)
        """,
        received.url,
    )
    assert sorted(received.exchanges) == ["child", "parent", "parent, before"]
