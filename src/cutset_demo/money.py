"""Amounts are whole nanos inside the shop: sums are exact, and only a conversion rounds."""

from cutset_demo import boutique_pb2 as pb

NANOS = 1_000_000_000

_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CAD": "CA$", "TRY": "₺"}


def to_nanos(money: pb.Money) -> int:
    return money.units * NANOS + money.nanos


def from_nanos(nanos: int, currency_code: str) -> pb.Money:
    units, rest = divmod(nanos, NANOS)
    return pb.Money(currency_code=currency_code, units=units, nanos=rest)


def times(money: pb.Money, quantity: int) -> pb.Money:
    return from_nanos(to_nanos(money) * quantity, money.currency_code)


def format_money(money: pb.Money) -> str:
    cents = round(to_nanos(money) * 100 / NANOS)
    return f"{_SYMBOLS.get(money.currency_code, money.currency_code + ' ')}{cents // 100:,}.{cents % 100:02}"
