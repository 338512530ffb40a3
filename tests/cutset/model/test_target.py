import pytest

from cutset.model.target import Target


@pytest.mark.parametrize(
    ("url", "entry"),
    [
        ("http://127.0.0.1:8080/shop", "127.0.0.1:8080"),
        ("http://shop.test", "shop.test:80"),
        ("https://shop.test/", "shop.test:443"),
        ("http://[::1]:9000", "[::1]:9000"),
    ],
)
def test_the_entry_is_where_the_url_leads(url: str, entry: str) -> None:
    assert Target(url).entry == entry


def test_a_server_is_called_by_its_name_and_each_must_be_there_once() -> None:
    target = Target("http://h:1", health=("h:1", "h:2", "h:3"), names={"h:2": "cart#2"})

    assert target.servers == ("h:1", "h:2", "h:3")
    assert list(map(target.named, target.servers)) == ["the entry at h:1", "cart#2 at h:2", "h:3"]
