from itertools import islice

from cutset.simulation.programs import AtOnce, Fail, Instead, RequestProgram, Tolerate, points_in, sites
from cutset.simulation.random_programs import Taste, random_request, random_requests

EVERYTHING = Taste("everything", cached=0.2, replicated=0.3, past_mesh=0.1)


def test_the_same_seed_gives_the_same_request() -> None:
    assert random_request("seed", EVERYTHING) == random_request("seed", EVERYTHING)


def test_sizes_are_as_asked_for() -> None:
    taste = Taste("small", points=(4, 5))

    assert all(1 <= len(points_in(request)) <= 5 for request in random_requests(taste, 30))


def test_everything_that_a_taste_names_occurs() -> None:
    requests = list(islice(random_requests(EVERYTHING, 60), 60))
    every = [site for request in requests for site in sites(request.program)]

    assert {type(site.otherwise) for site in every} == {Tolerate, Fail, Instead}
    assert any(site.to_status for site in every)
    assert any(site.then for site in every)
    assert any(site.limit is not None for site in every)
    assert any(site.cache is not None for site in every)
    assert any(site.past_mesh for site in every)
    assert {(site.replicas, site.failover) for site in every} >= {(1, True), (2, True), (2, False)}
    assert any(isinstance(request.program, AtOnce) for request in requests)
    assert any(request.deadline for request in requests)


def test_a_request_without_caches_and_plain_balancing_does_not_vary() -> None:
    assert not any(request.varies for request in random_requests(Taste(), 20))
    assert any(request.varies for request in random_requests(EVERYTHING, 20))
    assert isinstance(random_request("any", Taste()), RequestProgram)
