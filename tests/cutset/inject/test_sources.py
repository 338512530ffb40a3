import pytest

from cutset.inject.sources import (
    context_source,
    edge_source,
    filter_source,
    gateway_source,
    outbound_source,
    sidecar_source,
)

LIMIT = 60_000  # characters that Istio takes for an inline text are 65,536


@pytest.mark.parametrize(
    "source",
    [
        filter_source("cart", "1", "shop"),
        context_source(inbound=True),
        edge_source(),
        sidecar_source({"cart-v1": "cart"}, "shop", b"\x30"),
        outbound_source(),
        gateway_source("shop", b"\x30"),
    ],
)
def test_each_source_handles_requests_and_is_not_too_long(source):
    assert "function envoy_on_request(" in source
    assert len(source) < LIMIT


def test_names_are_texts_and_never_code():
    source = sidecar_source({'"] = os.exit() --': "]]\n\\"}, '"\n', b"\x00\xff")
    assert "os.exit" not in source
    assert 'local ENVIRONMENT = "\\034\\010"\nlocal PUBLIC_KEY = "\\000\\255"\n' in source


def test_the_same_names_make_the_same_text():
    names = {"b": "2", "a": "1"}
    assert sidecar_source(names, "e", b"") == sidecar_source(dict(sorted(names.items())), "e", b"")
