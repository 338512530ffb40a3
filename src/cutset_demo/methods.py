"""Every gRPC method of the shop, and which service serves it."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from google.protobuf.message import Message

from cutset_demo import boutique_pb2 as pb

Request = TypeVar("Request", bound=Message)
Reply = TypeVar("Reply", bound=Message)


@dataclass(frozen=True, slots=True)
class Method(Generic[Request, Reply]):
    rpc_service: str
    name: str
    request: type[Request]
    reply: type[Reply]

    @property
    def full_name(self) -> str:
        return f"{self.rpc_service}/{self.name}"


LIST_PRODUCTS = Method("hipstershop.ProductCatalogService", "ListProducts", pb.Empty, pb.ListProductsResponse)
GET_PRODUCT = Method("hipstershop.ProductCatalogService", "GetProduct", pb.GetProductRequest, pb.Product)
ADD_ITEM = Method("hipstershop.CartService", "AddItem", pb.AddItemRequest, pb.Empty)
GET_CART = Method("hipstershop.CartService", "GetCart", pb.GetCartRequest, pb.Cart)
EMPTY_CART = Method("hipstershop.CartService", "EmptyCart", pb.EmptyCartRequest, pb.Empty)
LIST_RECOMMENDATIONS = Method(
    "hipstershop.RecommendationService",
    "ListRecommendations",
    pb.ListRecommendationsRequest,
    pb.ListRecommendationsResponse,
)
GET_SUPPORTED_CURRENCIES = Method(
    "hipstershop.CurrencyService", "GetSupportedCurrencies", pb.Empty, pb.GetSupportedCurrenciesResponse
)
CONVERT = Method("hipstershop.CurrencyService", "Convert", pb.CurrencyConversionRequest, pb.Money)
GET_QUOTE = Method("hipstershop.ShippingService", "GetQuote", pb.GetQuoteRequest, pb.GetQuoteResponse)
GET_FLAT_RATE = Method("hipstershop.ShippingService", "GetFlatRate", pb.Empty, pb.GetQuoteResponse)
SHIP_ORDER = Method("hipstershop.ShippingService", "ShipOrder", pb.ShipOrderRequest, pb.ShipOrderResponse)
PLACE_ORDER = Method("hipstershop.CheckoutService", "PlaceOrder", pb.PlaceOrderRequest, pb.PlaceOrderResponse)
CHARGE = Method("hipstershop.PaymentService", "Charge", pb.ChargeRequest, pb.ChargeResponse)
SEND_INVOICE = Method("hipstershop.EmailService", "SendInvoice", pb.SendInvoiceRequest, pb.SendInvoiceResponse)
GET_ADS = Method("hipstershop.AdService", "GetAds", pb.AdRequest, pb.AdResponse)
CACHE_GET = Method("hipstershop.CacheService", "Get", pb.CacheGetRequest, pb.CacheGetResponse)
CACHE_PUT = Method("hipstershop.CacheService", "Put", pb.CachePutRequest, pb.Empty)
