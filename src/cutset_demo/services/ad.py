from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import GET_ADS
from cutset_demo.replica import Handlers, Replica

ADS = {
    "accessories": pb.Ad(redirect_url="/product/1YMWWN1N4O", text="Watch for sale. The second one at 10% off."),
    "beauty": pb.Ad(redirect_url="/product/2ZYFJ3GM2N", text="Hairdryer for sale. Half price today."),
    "clothing": pb.Ad(redirect_url="/product/66VCHSJNUP", text="Tank top for sale. 20% off."),
    "decor": pb.Ad(redirect_url="/product/0PUK6V6EV0", text="Candle holder for sale. 30% off."),
    "footwear": pb.Ad(redirect_url="/product/L9ECAV7KIM", text="Loafers for sale. Buy one, get the second one free."),
    "kitchen": pb.Ad(redirect_url="/product/9SIQT8TOJO", text="Bamboo glass jar for sale. 10% off."),
}


async def get_ads(_replica: Replica, request: pb.AdRequest) -> pb.AdResponse:
    fitting = [ADS[key] for key in request.context_keys if key in ADS]
    return pb.AdResponse(ads=fitting or list(ADS.values()))


HANDLERS: Handlers = {GET_ADS: get_ads}
