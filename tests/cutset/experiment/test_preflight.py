import asyncio
from dataclasses import replace

import pytest
from tests.samples.agent_traces import agent_call, of_mesh
from tests.samples.small_shop import EXPORT_SECONDS, KEY, PATIENCE_SECONDS, get
from tests.samples.trace_builder import ROOT as TRACE_ROOT
from tests.samples.trace_builder import trace

from cutset.experiment import preflight as preflight_module
from cutset.experiment.liveness import Liveness
from cutset.experiment.preflight import preflight
from cutset.inject.local.mesh import run_mesh
from cutset.lineage.calls import is_mesh_span
from cutset.model.checkup import Checkup, CheckupLine, LineState
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.target import Receiver
from cutset.traces.collector import Collector

NOWHERE = "127.0.0.1:9"  # the discard service, which nobody runs


def checked(shop, run, *paths, entry="web", **changes) -> Checkup:
    bench = shop.bench(entry, **changes)
    requests = [get(path) for path in paths or ("/page",)]
    return run(asyncio.wait_for(preflight(bench, requests, Receiver()), PATIENCE_SECONDS))


def only_wrong(found: Checkup) -> CheckupLine:
    (check,) = found.wrong
    assert check.remedy
    return check


def targeted(shop, **changes):
    return replace(shop.bench().target, **changes)


def test_a_set_up_that_is_well_is_told_so_line_by_line(shop, run):
    found = checked(shop, run, "/page", "/stock")

    assert not found.wrong
    assert [check.name for check in found.checks] == ["servers", "plans", "spans", "trace", "answers"]
    texts = [check.text for check in found.checks]
    assert texts[0] == "2 addresses accept connections"
    assert texts[1] == "the mesh obeys our plans at web"
    assert texts[3] == "web hands on baggage, traceparent, tracestate"
    assert texts[4] == "2 requests answered without faults"


def test_every_server_that_is_not_there_is_named_and_nothing_is_sent(shop, run):
    target = targeted(shop, health=(shop.mortal.address, NOWHERE), names={NOWHERE: "cart#2"})

    check = only_wrong(checked(shop, run, target=target))

    assert (check.name, check.fatal) == ("servers", True)
    assert check.text == f"cart#2 at {NOWHERE} does not accept connections"


def test_an_entry_where_nobody_listens_is_told_at_once(shop, run):
    found = checked(shop, run, target=targeted(shop, url=f"http://{NOWHERE}"), trace_timeout=600, export_interval=600)

    check = only_wrong(found)
    assert check.text == f"the entry at {NOWHERE} does not accept connections"
    assert "cutset mesh up" in check.remedy


def test_another_key_is_told_from_another_environment(shop, run):
    key = only_wrong(checked(shop, run, key=b"another key, of 32 bytes or more too"))
    environment = only_wrong(checked(shop, run, target=targeted(shop, environment="staging")))

    assert (key.name, environment.name) == ("key", "environment")
    assert "has another key, or none" in key.text
    assert environment.text == "the mesh runs as `local`, and `target.environment` is `staging`"


@pytest.mark.parametrize(("seconds", "text"), [(600.0, "600 s behind ours"), (-600.0, "600 s ahead of ours")])
def test_a_clock_that_is_off_is_told_from_a_wrong_key(shop, run, monkeypatch, seconds, text):
    from cutset.experiment import trial
    from cutset.inject import plan

    class Off:
        def __init__(self, real):
            self.real = real

        def __getattr__(self, name):
            return getattr(self.real, name)

        def time(self):
            return self.real.time() + seconds

    for module in (preflight_module, trial, plan):
        monkeypatch.setattr(module, "time", Off(module.time))

    check = only_wrong(checked(shop, run))

    assert (check.name, check.fatal) == ("clock", True)
    assert text in check.text


def test_spans_that_go_elsewhere_are_missed(shop, run):
    check = only_wrong(checked(shop, run, collector=Collector(), export_interval=0.05))

    assert (check.name, check.fatal) == ("spans", True)
    assert check.text == "GET /page was answered, but no span of it arrived"


def test_a_url_past_the_mesh_is_known_by_the_spans_of_services(shop, run):
    (web,) = (service for service in shop.mesh.spec.services if service.name == "web")

    check = only_wrong(checked(shop, run, target=targeted(shop, url=f"http://{web.replicas[0]}"), export_interval=0.5))

    assert check.name == "spans"
    assert check.text.startswith("web told of the request, but no mesh did")


def test_spans_that_take_longer_than_configured_are_told_from_those_that_do_not_come(shop, run):
    with shop.losing(is_mesh_span, found_after_seconds=1.6):
        check = only_wrong(checked(shop, run, export_interval=0.4))

    assert check.name == "spans"
    assert "`collector.export_interval` says that they take 0.4 s at most" in check.text


def test_how_long_spans_take_is_measured_and_what_is_configured_is_the_most(shop, run):
    fast = checked(shop, run, export_interval=2.0)
    assert EXPORT_SECONDS < fast.export_interval < 1

    with shop.losing(lambda span: span.service == "cart", found_after_seconds=1.0):
        slow = checked(shop, run, export_interval=1.5)
    assert slow.export_interval == 1.5


def test_a_service_that_loses_the_plan_or_the_trace_is_named(shop, run):
    plan = only_wrong(checked(shop, run, "/forgetful"))
    assert (plan.name, plan.fatal) == ("trace", False)
    assert plan.text == "forgetful hands on the trace, but not the plan, to cart/GET /items"

    nothing = only_wrong(checked(shop, run, "/items", entry="cart"))
    assert nothing.text.startswith("no call that cart made is in the trace of its request")


def test_calls_without_a_plan_are_noted(shop, run):
    found = checked(shop, run, "/fresh")

    (check,) = [check for check in found.checks if check.state is LineState.NOTE]
    assert check.text == "meanwhile there were calls without a plan: currency/GET /convert"


def test_a_request_that_is_not_answered_is_wrong_only_if_none_is(shop, run):
    shop.stumbles["web/page"] = 1000
    some = checked(shop, run, "/page", "/quiet")
    none = checked(shop, run, "/page")

    (noted,) = [check for check in some.checks if check.state is LineState.NOTE]
    assert noted.text.startswith("GET /page: unhealthy baseline")
    assert not some.wrong
    assert only_wrong(none).name == "answers"


def test_an_entry_that_is_the_edge_drops_plans(shop, run, tmp_path):
    (web,) = (service for service in shop.mesh.spec.services if service.name == "web")
    spec = MeshSpec((MeshService("web", "http", web.replicas),), entry="web", collector=shop.collector.grpc_address)
    with run_mesh(spec, key=KEY, work_dir=tmp_path) as mesh:
        check = only_wrong(checked(shop, run, target=targeted(shop, url=mesh.edge_url)))

    assert (check.name, check.fatal) == ("entry", True)
    assert "is the edge of the mesh, which drops all plans" in check.text


def test_in_istio_connections_from_before_the_installation_are_not_mistaken_for_a_mesh_that_refuses_us(shop, run):
    mesh = shop.bench().target.url
    entrances = iter([f"http://{shop.mortal.address}"])  # the first one leads past the mesh

    found = checked(
        shop, run, watched=Liveness(()), entrance=lambda: next(entrances, mesh), trace_timeout=1, export_interval=1
    )

    assert not found.wrong


def test_where_an_agent_sees_calls_nobody_need_hand_anything_on():
    spans = trace()
    entry = of_mesh("frontend", spans).span_id
    probe = preflight_module._Probe(get("/leaf"), TRACE_ROOT, spans=tuple(spans))
    seen = replace(probe, spans=(*spans, agent_call("x", entry, "cache/redis/get", service="frontend")))

    assert [check.name for check in preflight_module._handing_on([probe])] == ["trace"]
    assert not list(preflight_module._handing_on([seen]))
