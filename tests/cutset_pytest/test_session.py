"""What is wrong with a place is said as the failure of a test, not as a crash of pytest."""

import sys

from cutset.app.demo import free_ports

TESTS = """
import pytest

@pytest.mark.cutset
def test_nobody_is_there(cutset):
    pass

@pytest.mark.cutset(config="other.yaml")
def test_no_configuration():
    pass
"""
PORTS = "{http_port: 0, grpc_port: 0, jaeger_compact_port: null, jaeger_binary_port: null, jaeger_http_port: null, "
CONFIG = f"target: {{url: 'http://127.0.0.1:1'}}\ncollector: {PORTS} zipkin_port: null}}\n"


def test_a_place_that_is_not_as_it_should_be(pytester, monkeypatch):
    monkeypatch.setenv("CUTSET_KEY", "k" * 32)
    (pytester.path / "cutset.yaml").write_text(CONFIG)
    pytester.makepyfile(TESTS)

    result = pytester.runpytest_subprocess("-p", "cutset_pytest", "--cutset", timeout=60)

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*127.0.0.1:1 *", "*other.yaml*"])


def test_mesh_and_services_run_while_the_tests_do_and_need_no_key_of_the_user(pytester, monkeypatch):
    monkeypatch.delenv("CUTSET_KEY", raising=False)
    own, port = free_ports(2)
    mesh = f"{{entry: hello, services: {{hello: {{protocol: http, port: {port}, replicas: ['127.0.0.1:{own}']}}}}}}"
    command = f"[{sys.executable}, -m, http.server, '{own}', --bind, 127.0.0.1]"
    (pytester.path / "cutset.yaml").write_text(f"mesh: {mesh}\nstart: {{hello: {command}}}\n")
    pytester.makepyfile(
        """
        def test_it(cutset, cutset_mesh):
            assert cutset.get("/cutset.yaml").text.startswith("mesh:")
        """
    )

    pytester.runpytest_subprocess("-p", "cutset_pytest", timeout=60).assert_outcomes(passed=1)
