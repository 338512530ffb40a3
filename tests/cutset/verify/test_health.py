import asyncio

from cutset.model.request import Request, Step
from cutset.verify.health import RUNS, ill_requests, in_words

REQUESTS = [Request(name, Step("GET", "/")) for name in ("GET /", "GET /cart")]


class Ailing:
    """Its cart fails every other time."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def still_works(self, request: Request) -> str:
        self.sent.append(request.name)
        return "503" if request.name == "GET /cart" and self.sent.count("GET /cart") % 2 else ""


def test_each_request_is_sent_some_times_and_one_that_fails_now_and_then_is_ill() -> None:
    laboratory = Ailing()
    ill = asyncio.run(ill_requests(laboratory, REQUESTS))
    assert ill == {"GET /cart": f"{RUNS // 2} of {RUNS} times: 503"}
    assert (laboratory.sent.count("GET /"), laboratory.sent.count("GET /cart")) == (RUNS, RUNS)
    assert in_words(ill) == f"`GET /cart` {RUNS // 2} of {RUNS} times: 503"
