"""urllib3, and requests on top of it: their own exceptions, retries, pools and streams."""

import pytest
import requests
import urllib3
from tests.samples.http_clients import ANSWER, BODY, OLD_URLLIB3, check_fault, endpoint

from cutset_agent.hooks.http import urllib3 as urllib3_hook
from cutset_agent.hooks.http.answers import STATUS_ANSWERS

EXPECTED = {
    "connection-refused": urllib3.exceptions.NewConnectionError,
    "connection-reset": urllib3.exceptions.ProtocolError,
    "connection-lost": urllib3.exceptions.ProtocolError,
    "dns-failure": urllib3.exceptions.NewConnectionError,
    "tls-failure": urllib3.exceptions.SSLError,
    "connect-timeout": urllib3.exceptions.ConnectTimeoutError,
    "timeout": urllib3.exceptions.ReadTimeoutError,
    "no-answer": urllib3.exceptions.ReadTimeoutError,
    "lost-answer": urllib3.exceptions.ReadTimeoutError,
    "pool-exhausted": urllib3.exceptions.EmptyPoolError,
    "truncated-body": urllib3.exceptions.ProtocolError,
}
OF_REQUESTS = {
    "connection-refused": requests.exceptions.ConnectionError,
    "connection-reset": requests.exceptions.ConnectionError,
    "connection-lost": requests.exceptions.ConnectionError,
    "dns-failure": requests.exceptions.ConnectionError,
    "tls-failure": requests.exceptions.SSLError,
    "connect-timeout": requests.exceptions.ConnectTimeout,
    "timeout": requests.exceptions.ReadTimeout,
    "no-answer": requests.exceptions.ReadTimeout,
    "lost-answer": requests.exceptions.ReadTimeout,
    "pool-exhausted": None,
    # urllib3 1 does not compare what it reads with Content-Length.
    "truncated-body": (201, ANSWER[: len(ANSWER) // 2]) if OLD_URLLIB3 else requests.exceptions.ChunkedEncodingError,
}


def test_every_fault_is_tried():
    assert {*EXPECTED, *STATUS_ANSWERS, "empty-body", "wrong-body", "garbled-body"} == set(urllib3_hook.FAULTS)


@pytest.mark.parametrize("fault", EXPECTED)
def test_a_fault_is_the_own_exception_of_urllib3(installed, calls, shop, fault):
    check_fault(installed, calls, shop, "urllib3", fault, EXPECTED[fault])


@pytest.mark.parametrize("fault", OF_REQUESTS)
def test_a_fault_is_the_own_exception_of_requests(installed, calls, shop, fault):
    check_fault(installed, calls, shop, "requests", fault, OF_REQUESTS[fault])


def test_urllib3_retries_what_it_is_told_to(installed, calls, shop):
    retries = urllib3.Retry(total=3, status_forcelist=[503], backoff_factor=0, allowed_methods=None)
    with urllib3.PoolManager(retries=retries) as pool:
        with installed.request((endpoint("urllib3"), "status-503", {"attempts": 2})):
            assert pool.request("POST", shop.url, body=BODY).data == ANSWER
        reset = installed.request((endpoint("urllib3"), "connection-reset"))
        with reset, pytest.raises(urllib3.exceptions.MaxRetryError):
            pool.request("POST", shop.url, body=BODY)
    assert [span.get("fault") for span in calls("rpc/")] == [
        "status-503", "status-503", None, *["connection-reset"] * 4,
    ]  # fmt: skip


def test_an_exhausted_pool_is_whole_afterwards(installed, shop):
    with urllib3.PoolManager(maxsize=1, block=True, retries=False) as pool:
        with installed.request((endpoint("urllib3"), "pool-exhausted")):
            for _ in range(3):
                with pytest.raises(urllib3.exceptions.EmptyPoolError):
                    pool.request("POST", shop.url, body=BODY)
        assert pool.request("POST", shop.url, body=BODY, pool_timeout=5).data == ANSWER


def test_statuses_meet_what_applications_put_above_the_transport(installed, shop):
    with installed.request((endpoint("requests"), "status-500")), pytest.raises(requests.HTTPError):
        requests.post(shop.url, timeout=5).raise_for_status()


@pytest.mark.skipif(OLD_URLLIB3, reason="urllib3 1 does not compare what it reads with Content-Length")
def test_a_body_that_requests_streams_can_be_cut_too(installed, shop):
    planned = installed.request((endpoint("requests"), "truncated-body"))
    with planned:
        response = requests.post(shop.url, data=BODY, stream=True, timeout=5)
    with response, pytest.raises(requests.exceptions.ChunkedEncodingError):
        list(response.iter_content(1000))
