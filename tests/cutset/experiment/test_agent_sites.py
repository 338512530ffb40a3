from tests.samples.agent_traces import agent_call, of_mesh, serving
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.experiment.agent_sites import AgentSites
from cutset.lineage.agent_spans import call_site_of
from cutset.model.call_site import AgentCallSite
from cutset.model.fault import cut_of
from cutset.model.point import Point

SPANS = trace(Made("cart/GetCart", [Made("stock/Count")]))
OWN = serving("cart", SPANS).span_id
NAMES = {"127.0.0.1:7001": "sessions", "api.example.com": "bank"}


def peers(sites: AgentSites, *told: str) -> list[str]:
    spans = sites.named([agent_call(str(at), OWN, "cache/redis/get", peer=peer) for at, peer in enumerate(told)])
    return [call_site_of(span).peer for span in spans]


def test_peers_have_the_names_of_the_configuration() -> None:
    told = ("127.0.0.1:7001/0", "localhost:7001/1", "api.example.com", "127.0.0.1:7002/0", "orders.created")

    assert peers(AgentSites(NAMES), *told) == ["sessions/0", "sessions/1", "bank", "127.0.0.1:7002/0", "orders.created"]


def test_a_plan_has_the_address_as_the_agent_said_it_or_else_as_the_configuration_does() -> None:
    sites = AgentSites(NAMES)
    point = Point.parse("cart>cache/redis/get sessions/0")
    endpoint = "cache/redis/get"

    assert sites.targets(cut_of({point}), ()) == {point: (AgentCallSite("cart", endpoint, "127.0.0.1:7001/0"),)}
    peers(sites, "localhost:7001/0")
    assert sites.targets(cut_of({point}), ()) == {point: (AgentCallSite("cart", endpoint, "localhost:7001/0"),)}


def test_the_callers_side_of_a_call_is_where_its_agent_was_seen_to_make_it() -> None:
    sites, mesh = AgentSites(), of_mesh("stock", SPANS)
    side = Point("stock", "Count", caller="cart")
    spans = sites.named([*SPANS, agent_call("a", mesh.parent_id, "rpc/grpc/Count", peer="127.0.0.1:9")])

    assert sites.targets(cut_of({side}), ()) == {side: ()}
    sites.learn(spans, ROOT)
    assert sites.targets(cut_of({side}), ()) == {side: (AgentCallSite("cart", "rpc/grpc/Count", "127.0.0.1:9"),)}
    assert not sites.beyond


def test_two_traces_without_a_sidecars_word_make_a_third_party_and_one_with_it_unmakes_it() -> None:
    sites, mesh = AgentSites(), of_mesh("stock", SPANS)
    call = agent_call("a", mesh.parent_id, "rpc/grpc/Count", peer="p")
    lost = [each for each in SPANS if each.attributes.get("cutset.service") != "stock"]

    sites.learn([*lost, call], ROOT)
    assert not sites.beyond
    sites.learn([*lost, call], ROOT)
    assert sites.beyond == {AgentCallSite("cart", "rpc/grpc/Count", "p")}
    sites.learn([*SPANS, call], ROOT)
    assert not sites.beyond
