"""What advice wants is seen in the manifests of `test_istio.py`; here is what is not."""

from cutset.manifests.wanted import Clash, wanted_of
from cutset.model.advice import Advice
from cutset.model.point import Point

SITE = Point("cart", "GetCart", caller="web")
ADVICE = {SITE: [Advice("timeout", "", "", settings={"timeout_seconds": 1.5})]}


def test_callers_are_known_by_the_labels_that_their_pods_have() -> None:
    (route,) = wanted_of(ADVICE, {"web": {"app.kubernetes.io/name": "web"}})["cart"].routes
    assert (route.labels, route.settings) == ({"app.kubernetes.io/name": "web"}, {"timeout": "1.5s"})
    assert wanted_of(ADVICE)["cart"].routes[0].labels == {"app": "web"}


def test_what_istio_cannot_do_is_not_wanted_of_it() -> None:
    (service,) = wanted_of(
        {SITE: [Advice("fallback", "", "", settings={"fallback": {"GetCart": "last-good"}})]}
    ).values()
    assert (service.routes, dict(service.policy)) == ((), {})


def test_a_clash_says_what_is_there_and_what_would_be() -> None:
    assert str(Clash(SITE, "spec.x", {"a": 1}, "2s")) == 'spec.x is {"a": 1}, and would be "2s"'
