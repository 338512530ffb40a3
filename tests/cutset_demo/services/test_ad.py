from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import GET_ADS
from cutset_demo.services.ad import ADS


def test_ads_fit_the_page_if_there_are_any_that_do(boutique):
    fitting = boutique.call("ad", GET_ADS, pb.AdRequest(context_keys=["kitchen", "weather"]))
    any_ads = boutique.call("ad", GET_ADS, pb.AdRequest(context_keys=["weather"]))

    assert list(fitting.ads) == [ADS["kitchen"]]
    assert len(any_ads.ads) == len(ADS)
