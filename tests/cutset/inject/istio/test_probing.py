import asyncio
from collections.abc import Callable, Container, Iterator

import pytest
from tests.samples.cluster_resources import shop

from cutset.inject.istio import probing
from cutset.inject.istio.asking import ProbeReply
from cutset.inject.istio.discovery import view_of
from cutset.inject.istio.probing import Ask, Probed, probe_until_obeyed, probe_until_silent
from cutset.model.cluster import ClusterPort, ClusterService

VIEW = view_of(shop(), ["shop"])
PODS = {"frontend": ["frontend-1", "frontend-2"], "cart": ["cart-1"]}


def balanced(answer: Callable[[str, int], ProbeReply]) -> Ask:
    """Services that lead to their pods in turn; `answer` is given a pod and how often it was asked before."""
    asked: dict[str, int] = {}

    async def ask(service: ClusterService, _: ClusterPort) -> ProbeReply:
        await asyncio.sleep(0)
        pods = PODS[service.name]
        pod = pods[asked.get(service.name, 0) % len(pods)]
        asked[service.name] = asked.get(service.name, 0) + 1
        before = asked.get(pod, 0)
        asked[pod] = before + 1
        return answer(pod, before)

    return ask


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(probing, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(probing, "_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(probing, "_SPANS_PAUSE_SECONDS", 0.01)
    return


def obeyed(answer: Callable[[str, int], ProbeReply], traced: Container[str] = ("",)) -> Probed:
    async def run() -> Probed:
        return [each async for each in probe_until_obeyed(balanced(answer), traced, VIEW, {"shop": "new"})][-1]

    return asyncio.run(run())


def silent(answer: Callable[[str, int], ProbeReply]) -> Probed:
    async def run() -> Probed:
        return [each async for each in probe_until_silent(balanced(answer), VIEW)][-1]

    return asyncio.run(run())


def test_all_pods_have_to_answer_with_the_new_version() -> None:
    assert obeyed(lambda pod, _: ProbeReply(pod, "new")) == Probed(3, 3)


def test_connections_from_before_are_waited_for() -> None:
    assert obeyed(lambda pod, before: ProbeReply(pod, "new" if before > 3 else "old")) == Probed(3, 3)


def test_who_has_another_version_or_none_is_named() -> None:
    answers = {"frontend-2": ProbeReply("frontend-2", "old"), "cart-1": ProbeReply(otherwise="it is shut (403)")}
    found = obeyed(lambda pod, _: answers.get(pod, ProbeReply(pod, "new")))
    assert found == Probed(
        1,
        3,
        (("shop/cart-1", "it is shut (403)"), ("shop/frontend-2", "it has version old of the filter")),
    )


def test_who_obeys_without_a_span_is_not_ready() -> None:
    def answer(pod: str, before: int) -> ProbeReply:
        return ProbeReply(pod, "new", trace=f"{pod}-{before}")

    arrived = {"frontend-1-0", "frontend-2-1", "cart-1-3"}
    assert obeyed(answer, arrived) == Probed(3, 3)
    found = obeyed(answer, arrived - {"cart-1-3"})
    assert found == Probed(2, 3, (("shop/cart-1", "it obeys, but none of its spans has arrived"),))


def test_nobody_obeys_only_when_nobody_has_answered_for_long_enough() -> None:
    assert silent(lambda *_: ProbeReply(otherwise="404")) == Probed(3, 3)
    assert silent(lambda pod, before: ProbeReply(pod, "v") if before < 5 else ProbeReply()) == Probed(3, 3)


def test_who_still_obeys_is_named() -> None:
    found = silent(lambda pod, _: ProbeReply(pod, "v") if pod == "cart-1" else ProbeReply())
    assert found == Probed(2, 3, (("shop/cart-1", "it still obeys plans"),))
