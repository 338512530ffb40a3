"""Fallbacks of a mesh, on a mesh of its own that is reloaded while it runs."""

import time
from collections.abc import Iterator
from concurrent import futures
from dataclasses import dataclass, field, replace
from pathlib import Path

import grpc
import pytest

from cutset.errors import TargetError, UsageError
from cutset.inject.local import mesh as mesh_module
from cutset.inject.local.mesh import Mesh, run_mesh
from cutset.inject.local.stand_in import KEPT_ANSWERS, LARGEST_ANSWER, _Memory
from cutset.inject.plan import plan_headers
from cutset.model.fault import Fault
from cutset.model.mesh import MeshService, MeshSpec

KEY = b"a key for tests"
UNAVAILABLE, NOT_FOUND = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.NOT_FOUND


@dataclass
class Cart(grpc.GenericRpcHandler):
    """`Get` echoes what it got; asked for nothing, there is no such cart."""

    seen: list[dict[str, str]] = field(default_factory=list)

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        self.seen.append(dict(details.invocation_metadata))

        def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
            if not request:
                context.abort(NOT_FOUND, "no such cart")
            return b"cart of " + request

        return grpc.unary_unary_rpc_method_handler(answer)


@dataclass(frozen=True)
class Shop:
    mesh: Mesh
    cart: Cart
    channel: grpc.Channel

    def get(self, request: bytes, *faults: str, api: str = "Get", timeout: float = 20) -> bytes | grpc.StatusCode:
        plan = plan_headers(
            frozenset(map(Fault.parse, faults)),
            trace_id="1" * 32,
            span_id="2" * 16,
            key=KEY,
            environment="test",
            expires=int(time.time()) + 600,
        )
        call = self.channel.unary_unary(f"/shop.Cart/{api}")
        try:
            return call(request, metadata=[*plan.items(), ("x-own", "1")], timeout=timeout, wait_for_ready=True)
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
    assert seen["x-own"] == "1"
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
        (MeshService("web", "http", ("h:1",), hedge_after_seconds=20.0), "expected to hedge after 0 to 15.0 seconds"),
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
        memory.keep("cart", "/Get", str(number).encode(), b"answer")
    memory.keep("cart", "/Get", b"large", b"x" * LARGEST_ANSWER)
    assert len(memory.answers) == KEPT_ANSWERS
    assert ("cart", "/Get", b"5") in memory.answers
    assert ("cart", "/Get", b"4") not in memory.answers
    assert ("cart", "/Get", b"large") not in memory.answers
