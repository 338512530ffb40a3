"""Live marking through a real Envoy: who is asked about, what gets through, and that nobody suffers from us."""

import asyncio
import json
import math
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.edge_mutations import mutants
from tests.samples.marked_edge import KEY, ORDER, PARALLEL, PATIENCE_SECONDS, Edge, marker_process, marking, open_edge

from cutset.inject.local.envoy import bootstrap
from cutset.inject.local.marking import ANSWER_SECONDS, not_shown
from cutset.inject.local.marking_switch import set_share
from cutset.inject.plan import plan_headers
from cutset.model.fault import Fault
from cutset.model.impact import Group, Matching, UserKey
from cutset.model.mesh import MeshService, MeshSpec

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
BY_HEADER, BY_COOKIE = UserKey(header="x-user"), UserKey(cookie="session")
MARKED = (Group.FAULT, Group.CONTROL)


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def run(runner):
    return runner.run


def _opened(run, folder: Path, *arguments: object) -> Iterator[Edge]:
    opening = open_edge(folder, *arguments)
    yield run(opening.__aenter__())
    run(opening.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def edge(run, tmp_path_factory):
    yield from _opened(run, tmp_path_factory.mktemp("edge"))


@pytest.fixture(scope="module")
def prompt(run, tmp_path_factory):
    """As it is everywhere, with the marker in a process of its own."""
    yield from _opened(run, tmp_path_factory.mktemp("prompt"), None, ANSWER_SECONDS)


@pytest.fixture(scope="module")
def sticky(run, tmp_path_factory):
    yield from _opened(run, tmp_path_factory.mktemp("sticky"), BY_HEADER)


@pytest.fixture(scope="module")
def by_cookie(run, tmp_path_factory):
    yield from _opened(run, tmp_path_factory.mktemp("cookie"), BY_COOKIE)


def within(count: int, of: int, share: float) -> bool:
    """Five standard deviations of a binomial: one in two million would be wrong."""
    return abs(count - of * share) < 5 * math.sqrt(of * share * (1 - share))


def test_a_mesh_without_filters_or_without_an_entry_asks_nobody():
    service = MeshService("web", "http", ("127.0.0.1:1",))
    for spec in (MeshSpec((service,)), MeshSpec((service,), entry="web", filters=False, users=BY_HEADER)):
        text = json.dumps(bootstrap(spec, {("web", "1"): 2}))
        assert "ext_authz" not in text
        assert "cutset-marker" not in text


def test_nobody_is_asked_about_unless_a_share_is_set(run, edge):
    async def scenario():
        async with marking(edge, 0) as here:
            replies = await edge.send_anyway([("/", {})] * 100)
            assert {reply.group for reply in replies} == {Group.OTHERS}
            assert here.marker.asked == 0

    run(scenario())


@pytest.mark.parametrize("share", [0.02, 0.25])
def test_the_share_is_what_was_asked_for_in_each_group(run, edge, share):
    async def scenario():
        async with marking(edge, share):
            return Counter(reply.group for reply in await edge.send_all([("/", {})] * 2000))

    groups = run(scenario())
    assert within(groups[Group.FAULT], 2000, share)
    assert within(groups[Group.CONTROL], 2000, share)


def test_the_fault_happens_to_its_group_alone_and_control_carries_an_empty_plan(run, edge):
    async def scenario():
        async with marking(edge, 0.5) as here:
            replies = await edge.send_all([("/", {})] * 200)
        assert {(reply.group, reply.status) for reply in replies} == {(Group.FAULT, 503), (Group.CONTROL, 200)}
        marked = {mark.trace_id: mark for mark in here.marks}
        for reply in replies:
            if reply.group is Group.CONTROL:
                mark = marked[reply.seen["traceparent"].split("-")[1]]
                assert mark.group is Group.CONTROL
                assert reply.seen["traceparent"] == f"00-{mark.trace_id}-{mark.span_id}-01"

    run(scenario())


def test_users_are_never_in_both_groups_and_a_larger_share_keeps_them(run, sticky):
    order = replace(ORDER, user=BY_HEADER)
    requests = [("/", {"x-user": f"user {number % 600}"}) for number in range(1200)]

    async def scenario(share, salt):
        async with marking(sticky, share, order, salt=salt):
            replies = await sticky.send_all(requests)
        groups: dict[str, set[Group]] = {}
        for (_, headers), reply in zip(requests, replies, strict=True):
            groups.setdefault(headers["x-user"], set()).add(reply.group)
        assert all(len(found) == 1 for found in groups.values())
        return {user: group for user, (group,) in groups.items() if group in MARKED}

    small, large = run(scenario(0.05, "one")), run(scenario(0.15, "one"))
    assert small.items() <= large.items()
    for found, share in ((small, 0.05), (large, 0.15)):
        for group in MARKED:
            assert within(sum(each is group for each in found.values()), 600, share)
    others = run(scenario(0.05, "another run"))
    assert len(small.keys() & others.keys()) < len(small) / 2, "the same users are always chosen"


def test_requests_without_a_user_are_a_share_by_chance(run, sticky):
    async def scenario():
        async with marking(sticky, 0.25, replace(ORDER, user=BY_HEADER)):
            return Counter(reply.group for reply in await sticky.send_all([("/", {})] * 800))

    groups = run(scenario())
    assert within(groups[Group.FAULT], 800, 0.25)
    assert within(groups[Group.CONTROL], 800, 0.25)


def test_what_does_not_match_is_not_marked(run, edge):
    matching = Matching("GET", "/product/*", {"x-tenant": "blue"}, {}, {"page": "2"})
    right = ("/product/1?page=2", {"x-tenant": "blue"})
    wrong = [
        ("/product/1?page=3", {"x-tenant": "blue"}),
        ("/cart?page=2", {"x-tenant": "blue"}),
        ("/product/1?page=2", {"x-tenant": "red"}),
        ("/product/1?page=2", {}),
    ]

    async def scenario():
        async with marking(edge, 0.5, replace(ORDER, matching=matching)):
            return await edge.send_all([right, *wrong])

    first, *others = [reply.group for reply in run(scenario())]
    assert first in MARKED
    assert set(others) == {Group.OTHERS}


def test_a_user_can_be_chosen_by_the_cookie_that_tells_users_apart(run, by_cookie):
    order = replace(ORDER, user=BY_COOKIE, matching=Matching(cookies={"session": "alice"}))

    async def scenario():
        async with marking(by_cookie, 0.5, order):
            return await by_cookie.send_all([("/", {"cookie": f"theme=dark; session={name}"}) for name in USERS])

    alice, quoted, bob, nobody = run(scenario())
    assert alice.group == quoted.group
    assert alice.group in MARKED
    assert (bob.group, nobody.group) == (Group.OTHERS, Group.OTHERS)


USERS = ("alice", '"alice"', "bob", "")
SECRETS = {
    "authorization": "Bearer S3CRET",
    "proxy-authorization": "Basic S3CRET",
    "cookie": "id=S3CRET; session=alice; other=S3CRET",
    "x-api-key": "S3CRET",
    "x-auth-token": "S3CRET",
    "x-session-id": "S3CRET",
    "x-csrf-token": "S3CRET",
    "x-user": "alice",
}


def test_no_secret_leaves_the_edge(run, edge, sticky, by_cookie):
    async def questions(of, users):
        async with marking(of, 0.5, replace(ORDER, user=users)) as here:
            replies = await of.send_all([("/", SECRETS)] * 3)
        control = [reply for reply in replies if reply.group is Group.CONTROL]
        assert all(SECRETS.items() <= reply.seen.items() for reply in control)  # the service gets them
        assert all("x-cutset-user" not in reply.seen for reply in replies)
        return here.questions

    for of, users in ((edge, UserKey()), (sticky, BY_HEADER), (by_cookie, BY_COOKIE)):
        asked = run(questions(of, users))
        assert asked
        assert "S3CRET" not in repr(asked)
        for each in asked:
            assert each.headers.keys().isdisjoint({"cookie", "authorization"})
            told = each.headers.get("x-cutset-user")
            assert told == ("alice" if users != UserKey() else None)


def test_what_a_client_says_about_its_user_to_us_is_dropped(run, by_cookie):
    async def scenario():
        order = replace(ORDER, user=BY_COOKIE)
        async with marking(by_cookie, 0.5, order) as here:
            await by_cookie.send_all([("/", {"x-cutset-user": "mallory"})])
        return here.questions

    assert "mallory" not in repr(run(scenario()))


def test_what_the_edge_does_not_show_is_told_beforehand():
    matching = Matching(headers={"x-tenant": "", "authorization": "", "X-Api-Key": "1"}, cookies={"theme": ""})
    assert not_shown(matching, UserKey(), UserKey()) == (
        "the header `authorization`",
        "the header `X-Api-Key`",
        "the cookie `theme`",
    )
    assert not_shown(Matching(cookies={"session": "a"}), BY_COOKIE, BY_COOKIE) == ()
    assert not_shown(Matching(), BY_COOKIE, UserKey()) == ("the cookie `session`",)
    assert not_shown(Matching(), UserKey(header="Authorization"), UserKey(header="authorization")) == ()
    assert not_shown(Matching(), BY_HEADER, UserKey()) == ()


@pytest.mark.parametrize(
    "context",
    [
        {"traceparent": f"00-{TRACE}-{SPAN}-01"},
        {"b3": f"{TRACE}-{SPAN}-1"},
        {"x-b3-traceid": TRACE, "x-b3-spanid": SPAN, "x-b3-sampled": "1"},
        {"uber-trace-id": f"{TRACE}:{SPAN}:0:1"},
    ],
)
def test_the_clients_trace_and_baggage_are_kept(run, edge, context):
    own = {"baggage": "tenant=blue,k=v;p=1", "uberctx-user": "7"}

    async def scenario():
        async with marking(edge, 0.5, replace(ORDER, with_fault=False)) as here:
            (reply,) = await edge.send_all([("/", context | own)])
        return reply, here.marks[-1]

    reply, mark = run(scenario())
    assert reply.group is Group.CONTROL
    assert (mark.trace_id, mark.span_id) == (TRACE, SPAN)
    assert reply.seen["traceparent"] == f"00-{TRACE}-{SPAN}-01"
    assert reply.seen["baggage"].endswith(",tenant=blue,k=v;p=1")
    assert context.items() | {("uberctx-user", "7")} <= reply.seen.items()


@pytest.mark.parametrize("share", [0, 0.5])
def test_no_plan_from_outside_passes_whether_or_not_we_are_asked(run, edge, share):
    parts = {"span_id": SPAN, "key": KEY, "environment": ORDER.environment, "expires": ORDER.life + 60 + _now()}
    forged = plan_headers(frozenset({Fault.parse("web/*:abort(418)")}), trace_id=TRACE, **parts)
    plan = forged["baggage"].removeprefix("cutset=")
    others = (_decoded(headers) for headers in _some(mutants(plan, random.Random(15)), 60))
    tries = [forged, *({"traceparent": forged["traceparent"]} | each for each in others)]

    async def scenario():
        async with marking(edge, share, replace(ORDER, with_fault=False)):
            replies = await edge.send_all([("/", headers) for headers in tries])
        assert {reply.status for reply in replies} == {200}
        assert {reply.group for reply in replies} <= {Group.OTHERS, Group.CONTROL}
        assert all(plan not in value for reply in replies for value in reply.seen.values())

    run(scenario())


@pytest.mark.parametrize("name", ["edge", "sticky"])
def test_websockets_and_large_bodies_pass_as_before(run, name, request):
    edge = request.getfixturevalue(name)

    async def scenario():
        async with marking(edge, 0.5, replace(ORDER, with_fault=False)):
            async with edge.session.ws_connect(edge.mesh.edge_url + "/ws") as socket:
                await socket.send_str("hello")
                assert (await socket.receive(PATIENCE_SECONDS)).data == "hello"
            async with edge.session.post(edge.mesh.edge_url, data=b"x" * 2**20) as answer:
                assert answer.status == 200

    run(scenario())


def test_a_halt_ends_marks_at_once_and_the_questions_soon(run, edge):
    async def scenario():
        async with marking(edge, 0.5) as here:
            assert {reply.group for reply in await edge.send_all([("/", {})] * 20)} <= set(MARKED)
            here.halted = True
            given = len(here.marks)
            replies = await edge.send_anyway([("/", {})] * 50)
            assert {(reply.group, reply.status) for reply in replies} == {(Group.OTHERS, 200)}
            assert len(here.marks) == given
            await edge.is_heard(False)
            asked = here.marker.asked
            await edge.send_anyway([("/", {})] * 20)
            assert here.marker.asked == asked
            here.halted = False
            await edge.is_heard()

    run(scenario())


def test_when_the_marker_is_killed_every_request_is_answered_and_none_marked(run, prompt, tmp_path):
    async def scenario():
        async with marker_process(prompt.mesh.marking, tmp_path / "halted") as process:
            await set_share(prompt.mesh.admin_url, 0.5)
            await prompt.is_heard()
            assert {reply.group for reply in await prompt.send_anyway([("/", {})] * 50)} >= set(MARKED)
            process.send_signal(signal.SIGKILL)
            await process.wait()
            replies = await prompt.send_anyway([("/", {})] * 200)
            assert {(reply.group, reply.status) for reply in replies} == {(Group.OTHERS, 200)}
        await set_share(prompt.mesh.admin_url, 0)

    run(scenario())


def test_when_the_marker_hangs_requests_are_answered_and_only_a_few_wait(run, prompt, tmp_path):
    async def scenario():
        async with marker_process(prompt.mesh.marking, tmp_path / "halted") as process:
            await set_share(prompt.mesh.admin_url, 0.5)
            await prompt.is_heard()
            before = await prompt.timeouts()
            process.send_signal(signal.SIGSTOP)
            replies = await prompt.send_anyway([("/", {})] * 300)
            assert {reply.status for reply in replies[PARALLEL:]} == {200}
            assert {reply.group for reply in replies[PARALLEL:]} == {Group.OTHERS}
            # Until Envoy has seen five of them fail, those under way wait. All others are not even asked about.
            assert await prompt.timeouts() - before <= 10 * PARALLEL
            process.send_signal(signal.SIGCONT)
            await prompt.is_heard()
        await set_share(prompt.mesh.admin_url, 0)

    run(scenario())


def _some(endless, count):
    return [next(endless) for _ in range(count)]


def _decoded(headers):
    """Those that a client may send, and that is most."""
    pairs = {name.decode("latin-1"): value.decode("latin-1").strip() for name, value in headers}
    return {name: value for name, value in pairs.items() if (name + value).isascii() and (name + value).isprintable()}


def _now() -> float:
    return time.time()
