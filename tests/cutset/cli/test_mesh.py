"""What it prints; the mesh itself is in `tests/end_to_end` and `tests/cutset/inject/local`."""

import io
from dataclasses import replace

from rich.console import Console

from cutset.cli.mesh import _lines
from cutset.inject.local.mesh import Mesh
from cutset.model.mesh import MeshService, MeshSpec

MESH = Mesh(
    spec=MeshSpec(
        (
            MeshService("web", "http", ("127.0.0.1:5001",)),
            MeshService("carts", "grpc", ("127.0.0.1:5002", "127.0.0.1:5003")),
        )
    ),
    addresses={"web": "127.0.0.1:9080", "carts": "127.0.0.1:9081"},
    edge_url="http://127.0.0.1:8080",
    entry_url="http://127.0.0.1:9080",
    admin_url="",
    reload=lambda _: None,
)


def printed(mesh: Mesh) -> list[str]:
    console = Console(file=io.StringIO(), width=100)
    for line in _lines(mesh):
        console.print(line)
    return console.file.getvalue().splitlines()


def test_it_says_where_services_are_called_and_where_to_enter() -> None:
    assert printed(MESH) == [
        "web    127.0.0.1:9080  http, 1 replica",
        "carts  127.0.0.1:9081  grpc, 2 replicas",
        "users enter at       http://127.0.0.1:8080",
        "experiments enter at http://127.0.0.1:9080",
    ]


def test_a_mesh_without_an_entry_has_services_only() -> None:
    assert len(printed(replace(MESH, edge_url="", entry_url=""))) == 2
