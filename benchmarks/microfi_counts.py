"""MicroFI's own runs (§6.3, Fig. 11), rebuilt: how many injections each strategy takes where its authors logged theirs.

    python -m benchmarks.microfi_counts        a table, and one line of JSON

The authors' repository (github.com/chenhy97/MicroFI, `running results`) has a log for each request of four deployments,
once of their LDFI and once of their MicroFI: every set that was injected, and what came of it. What these say of the
systems is all that is used here: which APIs a request calls; that each has as many versions as the deployment's name
says; that a call turns to version 2 when 1 fails, and to 3 when both do; and that a request fails when all versions of
any one of its APIs do.

    published           the logged injections; the request without a fault is none
    published_distinct  without the sets that a log has twice. The authors' LDFI compares a candidate, in the order in
                        which Z3 names its points, with sorted ones that it has tried: some it tries again, to the same
                        end. Only three versions and more have sets that survive to be repeated. Its MicroFI sorts.

`microfi` and `cuts` share what they learn between requests (`--across-requests trust`), as the logged MicroFI did; each
looks for sets of up to as many points as there are versions. `ldfi` and `microfi` leave untried what has two points of
one path, as the authors' code does; `cuts` decides all of it. `found` counts the sets of each request that are injected
and fail or are trusted to fail: of 39, 39, 14 and 73.

Fig. 11 as the text quotes it (§6.4: 41, 102 and 117 on hr-3, hipster-3 and tt-2) is of neither kind of log.
"""

import asyncio
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.samples.simulated_campaign import SimulatedLaboratory

from cutset.campaign.explore import explore
from cutset.campaign.settings import CampaignSettings, Limits, SearchChoice
from cutset.lineage.path import Level
from cutset.model.event import ExperimentFinished, RequestFinished
from cutset.model.outcome import Verdict
from cutset.model.request import Request, Step
from cutset.search.strategies import AcrossRequests, StrategyName
from cutset.simulation.simulated import All, Call, System
from cutset.store.ledger import open_ledger

_PRODUCTS = "cart/GetCart currency/Convert currency/GetSupportedCurrencies productcatalog/ListProducts"
_HIPSTER = {
    "/": f"frontend/index ad/GetAds {_PRODUCTS}",
    "/product": f"frontend/product ad/GetAds recommendation/ListRecommendations {_PRODUCTS}",
    "GET /cart": "frontend/cart productcatalog/GetProduct recommendation/ListRecommendations shipping/GetQuote "
    + _PRODUCTS,
    "POST /cart": "frontend/cart-add cart/AddItem productcatalog/GetProduct",
    "/cart/empty": "frontend/cart-empty cart/EmptyCart",
    "/cart/checkout": "frontend/checkout cart/EmptyCart checkout/PlaceOrder email/SendOrderConfirmation payment/Charge "
    "productcatalog/GetProduct recommendation/ListRecommendations shipping/GetQuote shipping/ShipOrder " + _PRODUCTS,
}
_HOTEL = {
    "/hotels": "frontend/hotels geo/Nearby profile/GetProfiles rate/GetRates reservation/CheckAvailability "
    "search/Nearby",
    "/user": "frontend/user user/CheckUser",
    "/recommendations": "frontend/recommendations profile/GetProfiles recommendation/GetRecommendation",
    "/reservation": "frontend/reservation reservation/MakeReservation user/CheckUser",
}
_ORDER = "order/getOrderById order-other/getOrderById"
_LEFT_TICKETS = (
    "basic/queryForStationId basic/queryForTravel order/calculateSoldTicket order/getTicketListByDateAndTripId "
    "price/query route/queryById seat/getLeftTicketOfInterval station/queryForStationId ticketinfo/queryForStationId "
    "ticketinfo/queryForTravel train/retrieve travel/getRouteByTripId travel/getTrainTypeByTripId"
)
_TRAIN_TICKET = {
    "assurance": "assurance/getAllAssuranceType",
    "cancel": f"cancel/cancelTicket inside-payment/drawBack order-other/saveOrderInfo {_ORDER}",
    "contact": "contacts/createNewContacts",
    "execute": f"execute/executeTicket order-other/modifyOrder {_ORDER}",
    "foods": "food/getAllFood food-map/getFoodStoresByStationIds food-map/getTrainFoodOfTrip price/query "
    "station/queryForStationId travel/getRouteByTripId",
    "inside payment": f"inside-payment/pay payment/pay order/modifyOrder order-other/modifyOrder {_ORDER}",
    "left": f"config/retrieve {_LEFT_TICKETS}",
    "preserve": "contacts/getContactsByContactsId notification/orderCancelSuccess travel/getTripAllDetailInfo "
    f"user/getUserByUserId {_LEFT_TICKETS}",
    "rebook": f"order/getOrderById station/queryById travel/getTripAllDetailInfo {_LEFT_TICKETS}",
    "refresh": "order/queryOrdersForRefresh station/queryForNameBatch",
    "verification": "verification-code/imageCode",
}


@dataclass(frozen=True, slots=True)
class Deployment:
    replicas: int
    requests: Mapping[str, str]  # the APIs of each
    microfi: int  # injections, as logged
    ldfi: int
    repeated: int  # of LDFI's: those of a set that it had injected before

    def systems(self) -> dict[str, System]:
        return {name: All(tuple(map(self._call, apis.split()))) for name, apis in self.requests.items()}

    def _call(self, name: str) -> Call:
        service, api = name.split("/")
        return Call(api, replicas=self.replicas, attempts=self.replicas, service=service)


DEPLOYMENTS = {
    "hipster-2": Deployment(2, _HIPSTER, microfi=40, ldfi=78, repeated=0),
    "hipster-3": Deployment(3, _HIPSTER, microfi=60, ldfi=205, repeated=88),
    "hr-3": Deployment(3, _HOTEL, microfi=36, ldfi=45, repeated=3),
    "tt-2": Deployment(2, _TRAIN_TICKET, microfi=74, ldfi=146, repeated=0),
}


@dataclass(frozen=True, slots=True)
class Counted:
    injections: int
    found: int  # sets that fail, of all requests: injected, or trusted to
    complete: int  # requests that are said to be complete


@cache
def counted(name: str, strategy: StrategyName, across: AcrossRequests) -> Counted:
    """Of a campaign as `cutset explore --points replica` runs it."""
    return asyncio.run(_explored(DEPLOYMENTS[name], strategy, across))


async def _explored(deployment: Deployment, strategy: StrategyName, across: AcrossRequests) -> Counted:
    systems = deployment.systems()
    settings = CampaignSettings(
        limits=Limits(max_size=deployment.replicas),
        search=SearchChoice(strategy, across_requests=across),
        points=Level.REPLICA,
        replicas={
            api.split("/")[0]: deployment.replicas for apis in deployment.requests.values() for api in apis.split()
        },
    )
    requests = [Request(name, Step("GET", "/")) for name in systems]
    laboratory = SimulatedLaboratory(systems=systems)
    found, complete = set(), 0
    with tempfile.TemporaryDirectory() as folder, open_ledger(Path(folder)) as ledger:
        async for event in explore("microfi", requests, laboratory, ledger, settings):
            match event:
                case ExperimentFinished(request=request, outcome=outcome) if outcome.verdict is Verdict.FAILED:
                    found.add((request, outcome.cut))
                case RequestFinished(request=request, predicted=predicted, complete_up_to=size):
                    found.update((request, cut) for cut in predicted)
                    complete += size == deployment.replicas
    return Counted(sum(bool(cut) for _, cut in laboratory.ran), len(found), complete)


def microfi_counts() -> dict[str, dict[str, int]]:
    """By deployment: MicroFI as published, as `microfi`, and what `cuts` takes by the same rule."""
    return {
        name: {
            "published": each.microfi,
            "microfi": counted(name, StrategyName.MICROFI, AcrossRequests.TRUST).injections,
            "cuts": counted(name, StrategyName.CUTS, AcrossRequests.TRUST).injections,
        }
        for name, each in DEPLOYMENTS.items()
    }


def ldfi_counts() -> dict[str, dict[str, int]]:
    """By deployment: LDFI as the same authors published it, without what it repeats, and as `ldfi`."""
    return {
        name: {
            "published": each.ldfi,
            "published_distinct": each.ldfi - each.repeated,
            "ldfi": counted(name, StrategyName.LDFI, AcrossRequests.VERIFY).injections,
        }
        for name, each in DEPLOYMENTS.items()
    }


def main() -> None:
    figures = {"microfi_counts": microfi_counts(), "ldfi_counts": ldfi_counts()}
    for title, counts in figures.items():
        columns = next(iter(counts.values()))
        print(f"{title:16}", *(f"{column:>18}" for column in columns))
        for name, row in counts.items():
            print(f"{name:16}", *(f"{number:18}" for number in row.values()))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
