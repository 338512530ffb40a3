from pathlib import Path

import pytest
from benchmarks.groundtruth import load_ground_truth

from cutset.errors import InputError
from cutset.model.fault import cut_of
from cutset.model.point import Point
from cutset.simulation.brute_force import minimal_cuts_by_brute_force
from cutset.simulation.simulated import All, Call, Optional

SHOP = """
schema: cutset-groundtruth/1
app: shop
params: {products: 9, none: 0}
operations:
  "currency|Convert": {src: "server.js:138"}
  "catalog|ListProducts":
  "search|Find":
  "recommendation|List":
    calls: [{op: "catalog|ListProducts", err: fatal}]
requests:
  "GET /":
    calls:
      - {op: "currency|Convert", n: products, err: fatal, src: "handlers.go:83"}
      - {op: "recommendation|List", n: "2*products", err: tolerated}
      - {op: "search|Find", n: none, err: fatal}
      - {op: "search|Find", err: silent}
  "GET /list": {entry_api: "recommendation|List"}
  "GET /empty": {calls: []}
"""


def shop_with(tmp_path: Path, old: str = "", new: str = "") -> Path:
    assert old in SHOP
    path = tmp_path / "shop.yaml"
    path.write_text(SHOP.replace(old, new) if old else SHOP)
    return path


def test_a_request_is_the_expansion_of_its_calls(tmp_path: Path) -> None:
    programs = load_ground_truth(shop_with(tmp_path))

    list_products = Call("ListProducts", service="catalog")
    assert programs == {
        "GET /": All(
            (
                Call("Convert", times=9, service="currency"),
                Optional(Call("List", All((list_products,)), times=18, service="recommendation")),
                Optional(Call("Find", service="search")),
            )
        ),
        "GET /list": All((list_products,)),
        "GET /empty": All(()),
    }


def test_only_fatal_errors_fail_a_request(tmp_path: Path) -> None:
    programs = load_ground_truth(shop_with(tmp_path, "silent", "crash"))

    cuts = minimal_cuts_by_brute_force(programs["GET /"], 2)

    assert cuts == {cut_of({Point("currency", "Convert")}), cut_of({Point("search", "Find")})}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cutset-groundtruth/1", "cutset-groundtruth/2", "schema: Input should be 'cutset-groundtruth/1'"),
        ("err: silent", "err: ignored", "requests.GET /.calls.3.err: Input should be 'fatal', 'crash', 'tolerated' or"),
        (', err: fatal}]', "}]", "operations.recommendation|List.calls.0.err: Field required"),
        ("n: none", "n: unknown", "`search|Find` is called `unknown` times, and `unknown` is neither"),
        ("n: none", "n: 2+2", "`2+2` is neither a number nor among `params`"),
        ('  "search|Find":\n', "", "The operation `search|Find` is called, but not among `operations`"),
        ('op: "catalog|ListProducts"', 'op: "recommendation|List"', "`recommendation|List` calls itself, by way of"),
        ('"search|Find"', '"search"', "`search` is not an operation"),
        ("operations:", "operations: [", "is not YAML"),
        ("recommendation|List\"}", "nowhere|List\"}", "The operation `nowhere|List` is called"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_refused_with_the_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = shop_with(tmp_path, old, new)

    with pytest.raises(InputError) as raised:
        load_ground_truth(path)

    assert message in raised.value.message
    assert str(path) in raised.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Cannot read `.*absent.yaml`: No such file"):
        load_ground_truth(tmp_path / "absent.yaml")


def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text("- 1\n")

    with pytest.raises(InputError, match="the file"):
        load_ground_truth(path)
