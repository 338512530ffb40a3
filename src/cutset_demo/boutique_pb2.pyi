from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PaidBy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CARD: _ClassVar[PaidBy]
    BACKUP: _ClassVar[PaidBy]
    INVOICE: _ClassVar[PaidBy]
CARD: PaidBy
BACKUP: PaidBy
INVOICE: PaidBy

class Empty(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Money(_message.Message):
    __slots__ = ("currency_code", "units", "nanos")
    CURRENCY_CODE_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    NANOS_FIELD_NUMBER: _ClassVar[int]
    currency_code: str
    units: int
    nanos: int
    def __init__(self, currency_code: _Optional[str] = ..., units: _Optional[int] = ..., nanos: _Optional[int] = ...) -> None: ...

class Product(_message.Message):
    __slots__ = ("id", "name", "description", "picture", "price_usd", "categories")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PICTURE_FIELD_NUMBER: _ClassVar[int]
    PRICE_USD_FIELD_NUMBER: _ClassVar[int]
    CATEGORIES_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    description: str
    picture: str
    price_usd: Money
    categories: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., description: _Optional[str] = ..., picture: _Optional[str] = ..., price_usd: _Optional[_Union[Money, _Mapping]] = ..., categories: _Optional[_Iterable[str]] = ...) -> None: ...

class ListProductsResponse(_message.Message):
    __slots__ = ("products",)
    PRODUCTS_FIELD_NUMBER: _ClassVar[int]
    products: _containers.RepeatedCompositeFieldContainer[Product]
    def __init__(self, products: _Optional[_Iterable[_Union[Product, _Mapping]]] = ...) -> None: ...

class GetProductRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class CartItem(_message.Message):
    __slots__ = ("product_id", "quantity")
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    product_id: str
    quantity: int
    def __init__(self, product_id: _Optional[str] = ..., quantity: _Optional[int] = ...) -> None: ...

class Cart(_message.Message):
    __slots__ = ("user_id", "items")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    items: _containers.RepeatedCompositeFieldContainer[CartItem]
    def __init__(self, user_id: _Optional[str] = ..., items: _Optional[_Iterable[_Union[CartItem, _Mapping]]] = ...) -> None: ...

class AddItemRequest(_message.Message):
    __slots__ = ("user_id", "item")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ITEM_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    item: CartItem
    def __init__(self, user_id: _Optional[str] = ..., item: _Optional[_Union[CartItem, _Mapping]] = ...) -> None: ...

class GetCartRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class EmptyCartRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class ListRecommendationsRequest(_message.Message):
    __slots__ = ("user_id", "product_ids")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_IDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    product_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., product_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ListRecommendationsResponse(_message.Message):
    __slots__ = ("product_ids",)
    PRODUCT_IDS_FIELD_NUMBER: _ClassVar[int]
    product_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, product_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetSupportedCurrenciesResponse(_message.Message):
    __slots__ = ("currency_codes",)
    CURRENCY_CODES_FIELD_NUMBER: _ClassVar[int]
    currency_codes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, currency_codes: _Optional[_Iterable[str]] = ...) -> None: ...

class CurrencyConversionRequest(_message.Message):
    __slots__ = ("amount", "to_code")
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    TO_CODE_FIELD_NUMBER: _ClassVar[int]
    amount: Money
    to_code: str
    def __init__(self, amount: _Optional[_Union[Money, _Mapping]] = ..., to_code: _Optional[str] = ...) -> None: ...

class Address(_message.Message):
    __slots__ = ("street_address", "city", "zip_code", "country")
    STREET_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    CITY_FIELD_NUMBER: _ClassVar[int]
    ZIP_CODE_FIELD_NUMBER: _ClassVar[int]
    COUNTRY_FIELD_NUMBER: _ClassVar[int]
    street_address: str
    city: str
    zip_code: str
    country: str
    def __init__(self, street_address: _Optional[str] = ..., city: _Optional[str] = ..., zip_code: _Optional[str] = ..., country: _Optional[str] = ...) -> None: ...

class GetQuoteRequest(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[CartItem]
    def __init__(self, items: _Optional[_Iterable[_Union[CartItem, _Mapping]]] = ...) -> None: ...

class GetQuoteResponse(_message.Message):
    __slots__ = ("cost_usd",)
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    cost_usd: Money
    def __init__(self, cost_usd: _Optional[_Union[Money, _Mapping]] = ...) -> None: ...

class ShipOrderRequest(_message.Message):
    __slots__ = ("address", "items")
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    address: Address
    items: _containers.RepeatedCompositeFieldContainer[CartItem]
    def __init__(self, address: _Optional[_Union[Address, _Mapping]] = ..., items: _Optional[_Iterable[_Union[CartItem, _Mapping]]] = ...) -> None: ...

class ShipOrderResponse(_message.Message):
    __slots__ = ("tracking_id",)
    TRACKING_ID_FIELD_NUMBER: _ClassVar[int]
    tracking_id: str
    def __init__(self, tracking_id: _Optional[str] = ...) -> None: ...

class PlaceOrderRequest(_message.Message):
    __slots__ = ("user_id", "user_currency", "address", "email", "card_number")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    USER_CURRENCY_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    CARD_NUMBER_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    user_currency: str
    address: Address
    email: str
    card_number: str
    def __init__(self, user_id: _Optional[str] = ..., user_currency: _Optional[str] = ..., address: _Optional[_Union[Address, _Mapping]] = ..., email: _Optional[str] = ..., card_number: _Optional[str] = ...) -> None: ...

class OrderItem(_message.Message):
    __slots__ = ("item", "cost")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    item: CartItem
    cost: Money
    def __init__(self, item: _Optional[_Union[CartItem, _Mapping]] = ..., cost: _Optional[_Union[Money, _Mapping]] = ...) -> None: ...

class PlaceOrderResponse(_message.Message):
    __slots__ = ("order_id", "shipping_tracking_id", "shipping_cost", "total", "paid_by", "payment_reference", "items")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    SHIPPING_TRACKING_ID_FIELD_NUMBER: _ClassVar[int]
    SHIPPING_COST_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    PAID_BY_FIELD_NUMBER: _ClassVar[int]
    PAYMENT_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    order_id: str
    shipping_tracking_id: str
    shipping_cost: Money
    total: Money
    paid_by: PaidBy
    payment_reference: str
    items: _containers.RepeatedCompositeFieldContainer[OrderItem]
    def __init__(self, order_id: _Optional[str] = ..., shipping_tracking_id: _Optional[str] = ..., shipping_cost: _Optional[_Union[Money, _Mapping]] = ..., total: _Optional[_Union[Money, _Mapping]] = ..., paid_by: _Optional[_Union[PaidBy, str]] = ..., payment_reference: _Optional[str] = ..., items: _Optional[_Iterable[_Union[OrderItem, _Mapping]]] = ...) -> None: ...

class OrderPlaced(_message.Message):
    __slots__ = ("order_id", "email", "total")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    order_id: str
    email: str
    total: Money
    def __init__(self, order_id: _Optional[str] = ..., email: _Optional[str] = ..., total: _Optional[_Union[Money, _Mapping]] = ...) -> None: ...

class ChargeRequest(_message.Message):
    __slots__ = ("amount", "card_number")
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    CARD_NUMBER_FIELD_NUMBER: _ClassVar[int]
    amount: Money
    card_number: str
    def __init__(self, amount: _Optional[_Union[Money, _Mapping]] = ..., card_number: _Optional[str] = ...) -> None: ...

class ChargeResponse(_message.Message):
    __slots__ = ("transaction_id",)
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    transaction_id: str
    def __init__(self, transaction_id: _Optional[str] = ...) -> None: ...

class SendInvoiceRequest(_message.Message):
    __slots__ = ("email", "amount")
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    email: str
    amount: Money
    def __init__(self, email: _Optional[str] = ..., amount: _Optional[_Union[Money, _Mapping]] = ...) -> None: ...

class SendInvoiceResponse(_message.Message):
    __slots__ = ("invoice_id",)
    INVOICE_ID_FIELD_NUMBER: _ClassVar[int]
    invoice_id: str
    def __init__(self, invoice_id: _Optional[str] = ...) -> None: ...

class AdRequest(_message.Message):
    __slots__ = ("context_keys",)
    CONTEXT_KEYS_FIELD_NUMBER: _ClassVar[int]
    context_keys: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, context_keys: _Optional[_Iterable[str]] = ...) -> None: ...

class Ad(_message.Message):
    __slots__ = ("redirect_url", "text")
    REDIRECT_URL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    redirect_url: str
    text: str
    def __init__(self, redirect_url: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class AdResponse(_message.Message):
    __slots__ = ("ads",)
    ADS_FIELD_NUMBER: _ClassVar[int]
    ads: _containers.RepeatedCompositeFieldContainer[Ad]
    def __init__(self, ads: _Optional[_Iterable[_Union[Ad, _Mapping]]] = ...) -> None: ...

class CacheGetRequest(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: str
    def __init__(self, key: _Optional[str] = ...) -> None: ...

class CacheGetResponse(_message.Message):
    __slots__ = ("found", "value")
    FOUND_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    found: bool
    value: bytes
    def __init__(self, found: _Optional[bool] = ..., value: _Optional[bytes] = ...) -> None: ...

class CachePutRequest(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: bytes
    def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
