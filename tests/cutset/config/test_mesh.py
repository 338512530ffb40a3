from pathlib import Path
from textwrap import dedent

import pytest

from cutset.config.explore import load_mesh
from cutset.errors import UsageError
from cutset.model.impact import UserKey


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_file(content: str) -> Path:
        Path("mesh.yaml").write_text(dedent(content))
        return Path("mesh.yaml")

    return write_file


def test_anchors_can_be_merged(write):
    path = write("""
        services:
          a: &service {protocol: http, replicas: [127.0.0.1:1], retries: 3}
          b: &other {<<: *service, protocol: grpc}
          c: {<<: *other, retries: 1}
    """)
    assert [(each.protocol, each.retries) for each in load_mesh(path).services] == [
        ("http", 3),
        ("grpc", 3),
        ("grpc", 1),
    ]


@pytest.mark.parametrize(
    ("content", "users"),
    [("{header: x-user}", UserKey(header="x-user")), ("{cookie: session}", UserKey(cookie="session"))],
)
def test_users_are_told_apart_by_a_header_or_a_cookie(write, content, users):
    path = write(f"{{marking_port: 7, users: {content}, services: {{a: {{protocol: http, replicas: ['h:1']}}}}}}")
    assert (load_mesh(path).users, load_mesh(path).marking_port) == (users, 7)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("services: {}", "`mesh.yaml`, `services`: expected at least one service, found an empty mapping"),
        ("services: [a]", "`mesh.yaml`, `services`: expected a mapping, found a list"),
        (
            "{entry: b, services: {a: {protocol: http, replicas: ['h:1']}}}",
            "`mesh.yaml`: the entry `b` is none of the services `a`",
        ),
        (
            "{admin_port: 7, services: {a: {protocol: http, replicas: ['h:1'], port: 7}}}",
            "`mesh.yaml`: port 7 is given twice",
        ),
        (
            "{marking_port: 7, edge_port: 7, services: {a: {protocol: http, replicas: ['h:1']}}}",
            "`mesh.yaml`: port 7 is given twice",
        ),
        (
            "{users: {header: a, cookie: b}, services: {a: {protocol: http, replicas: ['h:1']}}}",
            "`mesh.yaml`, `users`: users are told apart by either a `header` or a `cookie`: give one of both",
        ),
        (
            "{users: {}, services: {a: {protocol: http, replicas: ['h:1']}}}",
            "`mesh.yaml`, `users`: users are told apart by either a `header` or a `cookie`: give one of both",
        ),
        (
            "{users: {cookie: a b}, services: {a: {protocol: http, replicas: ['h:1']}}}",
            '`mesh.yaml`, `users.cookie`: expected the name of a cookie, found "a b"',
        ),
        (
            "{services: {a: {protocol: http, replicas: ['h:1']}}, entri: a}",
            (
                "`mesh.yaml`, `entri`: unknown key. Did you mean `entry`? Valid keys: `admin_port`, `collector`, "
                "`edge_port`, `entry`, `environment`, `marking_port`, `services`, `users`, `workers`"
            ),
        ),
    ],
)
def test_a_wrong_mesh_is_refused_with_the_reason(write, content, message):
    with pytest.raises(UsageError) as caught:
        load_mesh(write(content))
    assert caught.value.message == message
