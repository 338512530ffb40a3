import http.server
import threading

import pytest

from cutset.errors import TargetError
from cutset.inject.local.kill_switch import is_switched_off, switch_off, switch_on


def test_a_mesh_that_is_switched_off_ignores_plans_until_it_is_switched_on(lab):
    url = lab.mesh.admin_url
    assert lab.get("web", "/", "web/*:abort(503)").status_code == 503
    assert not is_switched_off(url)
    try:
        switch_off(url)
        switch_off(url)
        assert is_switched_off(url)
        assert lab.get("web", "/", "web/*:abort(503)").status_code == 200
        runtime = lab.client.get(f"{url}/runtime").json()["entries"]
        assert runtime["cutset.mark"]["final_value"] == "0"
    finally:
        switch_on(url)
    switch_on(url)
    assert not is_switched_off(url)
    assert lab.get("web", "/", "web/*:abort(503)").status_code == 503


def test_a_mesh_that_is_not_there_is_named():
    with pytest.raises(TargetError, match=r"The mesh at http://127\.0\.0\.1:9 does not answer: .*refused"):
        switch_off("http://127.0.0.1:9")
    with pytest.raises(TargetError, match="is no URL"):
        switch_off("127.0.0.1:9")


def test_what_is_no_mesh_is_said_to_be_none():
    class Refusing(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_error(404, "not here")

        def do_GET(self):
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever).start()
        url = f"http://127.0.0.1:{server.server_port}"
        try:
            with pytest.raises(TargetError, match="answered 404"):
                switch_off(url)
            with pytest.raises(TargetError, match="no admin interface of Envoy"):
                is_switched_off(url)
        finally:
            server.shutdown()
