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
    purpose: str  # completes "could not …"
    request: type[Request]
    reply: type[Reply]

    @property
    def full_name(self) -> str:
        return f"{self.rpc_service}/{self.name}"


LIST_PRODUCTS = Method(
    "hipstershop.ProductCatalogService", "ListProducts", "list the products", pb.Empty, pb.ListProductsResponse
)
GET_PRODUCT = Method(
    "hipstershop.ProductCatalogService", "GetProduct", "look up the product", pb.GetProductRequest, pb.Product
)
ADD_ITEM = Method("hipstershop.CartService", "AddItem", "add to the cart", pb.AddItemRequest, pb.Empty)
GET_CART = Method("hipstershop.CartService", "GetCart", "read the cart", pb.GetCartRequest, pb.Cart)
EMPTY_CART = Method("hipstershop.CartService", "EmptyCart", "empty the cart", pb.EmptyCartRequest, pb.Empty)
LIST_RECOMMENDATIONS = Method(
    "hipstershop.RecommendationService",
    "ListRecommendations",
    "find recommendations",
    pb.ListRecommendationsRequest,
    pb.ListRecommendationsResponse,
)
GET_SUPPORTED_CURRENCIES = Method(
    "hipstershop.CurrencyService",
    "GetSupportedCurrencies",
    "list the currencies",
    pb.Empty,
    pb.GetSupportedCurrenciesResponse,
)
CONVERT = Method("hipstershop.CurrencyService", "Convert", "convert the price", pb.CurrencyConversionRequest, pb.Money)
GET_QUOTE = Method(
    "hipstershop.ShippingService", "GetQuote", "quote the shipping", pb.GetQuoteRequest, pb.GetQuoteResponse
)
GET_FLAT_RATE = Method(
    "hipstershop.ShippingService", "GetFlatRate", "find the flat shipping rate", pb.Empty, pb.GetQuoteResponse
)
SHIP_ORDER = Method(
    "hipstershop.ShippingService", "ShipOrder", "ship the order", pb.ShipOrderRequest, pb.ShipOrderResponse
)
PLACE_ORDER = Method(
    "hipstershop.CheckoutService", "PlaceOrder", "place the order", pb.PlaceOrderRequest, pb.PlaceOrderResponse
)
CHARGE = Method("hipstershop.PaymentService", "Charge", "charge the card", pb.ChargeRequest, pb.ChargeResponse)
SEND_INVOICE = Method(
    "hipstershop.EmailService", "SendInvoice", "send the invoice", pb.SendInvoiceRequest, pb.SendInvoiceResponse
)
GET_ADS = Method("hipstershop.AdService", "GetAds", "find an ad", pb.AdRequest, pb.AdResponse)
CACHE_GET = Method("hipstershop.CacheService", "Get", "ask the cache", pb.CacheGetRequest, pb.CacheGetResponse)
CACHE_PUT = Method("hipstershop.CacheService", "Put", "fill the cache", pb.CachePutRequest, pb.Empty)
