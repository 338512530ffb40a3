from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import LIST_PRODUCTS, LIST_RECOMMENDATIONS
from cutset_demo.replica import Handlers, Replica

RECOMMENDATIONS = 5  # as in Online Boutique


async def list_recommendations(
    replica: Replica, request: pb.ListRecommendationsRequest
) -> pb.ListRecommendationsResponse:
    """The first products that the user has not seen. The original draws at random, which would make paths differ."""
    products = (await replica.call("productcatalog", LIST_PRODUCTS, pb.Empty())).products
    unseen = [product.id for product in products if product.id not in request.product_ids]
    return pb.ListRecommendationsResponse(product_ids=unseen[:RECOMMENDATIONS])


HANDLERS: Handlers = {LIST_RECOMMENDATIONS: list_recommendations}
