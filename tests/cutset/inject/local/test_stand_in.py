"""Fallbacks of a mesh, on a mesh of its own that is reloaded while it runs."""

import time
from collections.abc import Iterator, Sequence
from concurrent import futures
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue

import grpc
import pytest

from cutset.errors import TargetError, UsageError
from cutset.inject.local import mesh as mesh_module
from cutset.inject.local.mesh import Mesh, run_mesh
from cutset.inject.local.stand_in import KEPT_ANSWERS, LARGEST_ANSWER, _Asked, _Memory
from cutset.inject.plan import plan_headers
from cutset.model.fault import Fault
from cutset.model.mesh import MeshService, MeshSpec

KEY = b"a key for tests that nobody guesses"
UNAVAILABLE, NOT_FOUND = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.NOT_FOUND


@dataclass
class Cart(grpc.GenericRpcHandler):
    """`Get` echoes what it got; asked for nothing, there is no such cart. `Chat` answers each message as it comes."""

    seen: list[dict[str, str]] = field(default_factory=list)

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        self.seen.append(dict(details.invocation_metadata))
        if details.method.endswith("/Chat"):
            return grpc.stream_stream_rpc_method_handler(lambda messages, _: (b"to " + each for each in messages))

        def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
            context.send_initial_metadata([("x-first", "1")])
            context.set_trailing_metadata([("x-last-bin", b"\0\1")])
            if not request:
                context.set_trailing_metadata([("grpc-status-details-bin", b"why")])
                context.abort(NOT_FOUND, "no such cart")
            return b"cart of " + request

        return grpc.unary_unary_rpc_method_handler(answer)


def plan(*faults: str) -> list[tuple[str, str]]:
    headers = plan_headers(
        frozenset(map(Fault.parse, faults)),
        trace_id="1" * 32,
        span_id="2" * 16,
        key=KEY,
        environment="test",
        expires=int(time.time()) + 60,
    )
    return list(headers.items())


@dataclass(frozen=True)
class Shop:
    mesh: Mesh
    cart: Cart
    channel: grpc.Channel

    def get(
        self,
        request: bytes,
        *faults: str,
        api: str = "Get",
        timeout: float | None = 20,
        metadata: Sequence[tuple[str, str | bytes]] = (),
    ) -> bytes | grpc.StatusCode:
        call = self.channel.unary_unary(f"/shop.Cart/{api}")
        sent = [*plan(*faults), ("x-own", "1"), ("tenant", "2"), *metadata]
        try:
            return call(request, metadata=sent, timeout=timeout, wait_for_ready=True)
        except grpc.RpcError as error:
            return error.code()

    def set(self, **fallback: str) -> None:
        services = [service for service in self.mesh.spec.services if service.name == "cart"]
        self.mesh.reload(replace(self.mesh.spec, services=(replace(services[0], fallback=fallback),)))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    cart = Cart()
    server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[cart])
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    spec = MeshSpec((MeshService("cart", "grpc", (address,)),), environment="test")
    with run_mesh(spec, key=KEY, work_dir=tmp_path_factory.mktemp("mesh")) as mesh:
        channel = grpc.insecure_channel(
            mesh.addresses["cart"], options=[("grpc.enable_retries", 0), ("grpc.max_reconnect_backoff_ms", 100)]
        )
        yield Shop(mesh, cart, channel)
        channel.close()
    server.stop(None)


def test_without_a_fallback_a_failure_stays_one(shop: Shop) -> None:
    shop.set()
    assert shop.get(b"a", "cart/Get") is UNAVAILABLE


def test_the_last_good_answer_to_the_same_request_is_repeated(shop: Shop) -> None:
    shop.set(Get="last-good")
    assert shop.get(b"good") == b"cart of good"
    assert shop.get(b"good", "cart/Get") == b"cart of good"
    assert shop.get(b"never asked", "cart/Get") is UNAVAILABLE
    assert shop.get(b"good", "cart/Other", api="Other") is UNAVAILABLE
    assert shop.get(b"good", api="Other") == b"cart of good"


def test_the_callee_sees_the_callers_metadata_and_none_of_ours(shop: Shop) -> None:
    shop.set(Get="last-good")
    shop.get(b"x")
    seen = shop.cart.seen[-1]
    assert (seen["x-own"], seen["tenant"]) == ("1", "2")
    assert "cutset" in seen["tracestate"]
    assert not [name for name in seen if name.startswith("x-cutset-")]


def test_without_a_good_answer_an_empty_one_may_do(shop: Shop) -> None:
    shop.set(Get="last-good-or-empty")
    assert shop.get(b"not asked before", "cart/Get") == b""
    shop.get(b"asked before")
    assert shop.get(b"asked before", "cart/Get") == b"cart of asked before"


def test_an_answer_that_says_no_is_an_answer(shop: Shop) -> None:
    shop.set(Get="last-good-or-empty")
    assert shop.get(b"") is NOT_FOUND


def test_a_callee_that_does_not_answer_in_time_is_stood_in_for_within_the_callers_deadline(shop: Shop) -> None:
    shop.set(Get="last-good")
    shop.get(b"slow")
    assert shop.get(b"slow", "cart/Get:delay(30000ms)", timeout=3) == b"cart of slow"


@pytest.mark.parametrize("timeout", [None, 1e9, 20, 3])
def test_any_deadline_will_do_and_none_at_all_too(shop: Shop, timeout: float | None) -> None:
    shop.set(Get="last-good")
    asked = str(timeout).encode()
    assert shop.get(asked, timeout=timeout) == b"cart of " + asked
    assert shop.get(asked, "cart/Get", timeout=timeout) == b"cart of " + asked


def test_a_callee_that_takes_most_of_the_deadline_is_waited_for(shop: Shop) -> None:
    shop.set(Get="last-good")
    assert shop.get(b"most of it", "cart/Get:delay(2200ms)", timeout=3) == b"cart of most of it"


def test_what_the_callee_says_beside_its_answer_arrives(shop: Shop) -> None:
    shop.set(Get="last-good")
    get: grpc.UnaryUnaryMultiCallable[bytes, bytes] = shop.channel.unary_unary("/shop.Cart/Get")
    _, call = get.with_call(b"x", wait_for_ready=True)
    assert ("x-first", "1") in call.initial_metadata()
    assert ("x-last-bin", b"\0\1") in call.trailing_metadata()
    with pytest.raises(grpc.RpcError) as refused:
        get(b"")
    assert ("grpc-status-details-bin", b"why") in refused.value.trailing_metadata()
    assert refused.value.details() == "no such cart"


def test_large_messages_pass(shop: Shop) -> None:
    shop.set(Get="last-good")
    channel = grpc.insecure_channel(shop.mesh.addresses["cart"], options=[("grpc.max_receive_message_length", -1)])
    with channel:
        large = b"x" * (4 * 1024 * 1024 - 4)  # the answer is larger than gRPC takes untold
        get = channel.unary_unary("/shop.Cart/Get")
        try:
            answer = get(large, wait_for_ready=True)
        except grpc.RpcError:  # reset on a busy machine, just after Envoy was started anew, once in a great while
            answer = get(large, wait_for_ready=True)
        assert len(answer) > len(large)


def test_streams_pass_both_ways_and_are_never_stood_in_for(shop: Shop) -> None:
    shop.set(Chat="last-good-or-empty")
    chat: grpc.StreamStreamMultiCallable[bytes, bytes] = shop.channel.stream_stream("/shop.Cart/Chat")
    said: SimpleQueue[bytes | None] = SimpleQueue()
    answers = chat(iter(said.get, None), wait_for_ready=True)
    for message in (b"one", b"two"):  # the second is said once the first is answered
        said.put(message)
        assert next(answers) == b"to " + message
    said.put(None)
    assert list(answers) == []
    with pytest.raises(grpc.RpcError) as failed:
        list(chat(iter([b"one", b"two"]), metadata=plan("cart/Chat")))
    assert failed.value.code() is UNAVAILABLE


@pytest.mark.parametrize("name", ["authorization", "cookie", "x-api-key", "x-session-token", "auth-token-bin"])
def test_who_proves_who_they_are_gets_no_older_answer(shop: Shop, name: str) -> None:
    shop.set(Get="last-good-or-empty")
    own = [(name, b"mine" if name.endswith("-bin") else "mine")]
    assert shop.get(b"secret", metadata=own) == b"cart of secret"
    assert shop.get(b"secret", "cart/Get", metadata=own) is UNAVAILABLE


def test_an_answer_is_repeated_to_whoever_asked_and_nobody_else(shop: Shop) -> None:
    shop.set(Get="last-good")
    assert shop.get(b"mine", metadata=[("x-user", "ada")]) == b"cart of mine"
    assert shop.get(b"mine", "cart/Get", metadata=[("x-user", "ada"), ("x-request-id", "7")]) == b"cart of mine"
    assert shop.get(b"mine", "cart/Get", metadata=[("x-user", "bob")]) is UNAVAILABLE


def test_the_fallback_can_fail_too(shop: Shop) -> None:
    shop.set(Get="last-good-or-empty")
    assert shop.get(b"both", "cart/Get", "cart-fallback/Get") is UNAVAILABLE


def test_a_reload_keeps_the_ports_and_refuses_other_services(shop: Shop) -> None:
    other = replace(shop.mesh.spec, services=(MeshService("cart", "grpc", ("127.0.0.1:9",)),))
    with pytest.raises(UsageError, match="of a running mesh cannot change"):
        shop.mesh.reload(other)
    assert shop.get(b"still there") == b"cart of still there"


def test_a_reload_that_envoy_refuses_leaves_the_mesh_as_it_was(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.set(Get="last-good-or-empty")
    build, built = mesh_module.bootstrap, []

    def wrong_once(*arguments: object) -> dict[str, object]:
        built.append(arguments)
        return {"no_such_field": 1} if len(built) == 1 else build(*arguments)

    monkeypatch.setattr(mesh_module, "bootstrap", wrong_once)
    with pytest.raises(TargetError, match="no_such_field"):
        shop.set()
    assert shop.get(b"unseen", "cart/Get") == b""


@pytest.mark.parametrize(
    ("service", "problem"),
    [
        (MeshService("web", "http", ("h:1",), fallback={"GET /": "last-good"}), "a fallback needs the protocol `grpc`"),
        (MeshService("web", "grpc", ("h:1",), fallback={"Get": "any"}), "found `any`"),
        (
            MeshService("web", "http", ("h:1",), hedge_after_seconds=20.0, timeout_seconds=15.0),
            "expected to hedge after 0 to 15.0 seconds",
        ),
        (MeshService("web", "http", ("h:1",), hedge_after_seconds=1.0), "it needs at least one retry"),
        (MeshService("web", "http", ("h:1",), retry_budget_percent=0.0), "expected a retry budget above 0"),
        (MeshService("web", "http", ("h:1",), max_parallel=0), "expected at least one call at a time"),
    ],
)
def test_impossible_remedies_are_refused(tmp_path: Path, service: MeshService, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        run_mesh(MeshSpec((service,)), work_dir=tmp_path).__enter__()
    assert problem in caught.value.message


def test_envoy_takes_limits_budgets_and_hedges(tmp_path: Path) -> None:
    service = MeshService(
        "web",
        "http",
        ("127.0.0.1:9", "127.0.0.1:10"),
        max_parallel=7,
        retry_budget_percent=20.0,
        hedge_after_seconds=0.5,
    )
    with run_mesh(MeshSpec((service,)), work_dir=tmp_path):
        text = (tmp_path / "envoy.json").read_text()
    assert all(part in text for part in ('"max_requests": 7', '"budget_percent"', '"hedge_on_per_try_timeout": true'))


def test_memory_is_bounded() -> None:
    memory = _Memory()
    for number in range(KEPT_ANSWERS + 5):
        memory.keep(_Asked("cart", "/Get", str(number).encode()), b"answer")
    memory.keep(_Asked("cart", "/Get", b"large"), b"x" * LARGEST_ANSWER)
    assert len(memory.answers) == KEPT_ANSWERS
    assert _Asked("cart", "/Get", b"5") in memory.answers
    assert _Asked("cart", "/Get", b"4") not in memory.answers
    assert _Asked("cart", "/Get", b"large") not in memory.answers
