from benchmarks.million_services import SERVICES, discover, request_class, service

from cutset.simulation.simulated import all_points


def test_a_request_class_draws_its_calls_from_the_shared_system() -> None:
    for number in range(30):
        points = all_points(request_class(number))
        assert request_class(number) == request_class(number)
        assert 5 <= len({point.service for point in points}) <= 25
        for point in points:
            index = int(point.service.rpartition("-")[2])
            assert 1 <= index <= SERVICES
            assert service(index).name == point.service


def test_request_classes_share_popular_services() -> None:
    services = [{point.service for point in all_points(request_class(number))} for number in range(100)]

    assert any(one & other for one in services[:20] for other in services[20:])
    assert len(set().union(*services)) > 500


def test_discovery_is_checked_against_brute_force() -> None:
    discovery = discover(3, check=True)

    assert discovery.wrong == 0
    assert discovery.cuts > 0
    assert discovery.tally.injections >= discovery.cuts
