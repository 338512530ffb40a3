"""The catalogue explains every fault."""

from cutset_agent import wire
from cutset_agent.catalogue import catalogue


def test_every_fault_that_the_catalogue_knows_is_explained():
    for name, entry in catalogue().items():
        assert set(entry) == {"what", "incident", "resilient", "needs_timeout"}, name
        assert all(entry[part].endswith(".") for part in ("what", "incident", "resilient")), name
    codes = {wire.fault_code(name) for name in catalogue()}
    assert len(codes) == len(catalogue())
