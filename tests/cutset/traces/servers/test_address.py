import pytest

from cutset.errors import UsageError
from cutset.traces.servers.address import is_server, server_of


@pytest.mark.parametrize(
    "source", ["jaeger+http://h:16686", "tempo+https://h", "zipkin+http://h/x", "http://h", "s3://b/x"]
)
def test_an_address_is_a_server(source):
    assert is_server(source)


@pytest.mark.parametrize("source", ["traces.json", "-", "a/b+c.json", "dir:/x", "jaeger", "**/*.json", ""])
def test_a_file_is_not(source):
    assert not is_server(source)


def refusal_of(source):
    with pytest.raises(UsageError) as refusal:
        server_of(source)
    return refusal.value


@pytest.mark.parametrize("source", ["http://h:16686", "s3://bucket", "jaeger+ftp://h", "jaeger+grpc://h", "JAEGER://h"])
def test_an_unknown_kind_of_server_is_refused_with_the_known_ones(source):
    assert "no kind of trace server" in refusal_of(source).message
    assert "zipkin+http://host:9411" in refusal_of(source).hint


@pytest.mark.parametrize(
    "source", ["jaeger+http://", "jaeger+http://:80", "jaeger+http://h:99999", "jaeger+http://[", "zipkin+http:///x"]
)
def test_an_address_without_a_server_is_refused(source):
    assert "is not the address of a server" in refusal_of(source).message


@pytest.mark.parametrize("source", ["ann:s3cret@h", "ann:s3cret@h:16686/x", "s3cret@h", "h?token=s3cret", "h/#s3cret"])
def test_credentials_in_an_address_are_refused_and_not_repeated(source):
    refusal = refusal_of(f"jaeger+https://{source}")
    assert "CUTSET_TRACES_TOKEN" in refusal.hint
    assert "s3cret" not in refusal.message + refusal.hint


def test_an_address_says_kind_and_place():
    server, url = server_of("jaeger+https://h:16686/base")
    assert (server.name, str(url)) == ("Jaeger", "https://h:16686/base")
