"""Times as trace formats write them (numbers or text, in some unit) as whole nanoseconds."""

from decimal import Decimal, InvalidOperation

NS_PER_UNIT = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}

_LATEST_NS = 2**63 - 1  # what a 64-bit column holds: the year 2262


def nanoseconds(value: object, unit_ns: int) -> int | None:
    """`None` for what is no time: another type, not finite, negative, or after the year 2262."""
    if type(value) is int:
        ns = value * unit_ns
    elif isinstance(value, str) and len(value) < 20 and value.isdecimal():
        ns = int(value) * unit_ns
    elif isinstance(value, str | float):
        exact = _decimal(value)
        if exact is None:
            return None
        ns = int(exact * unit_ns)
    else:
        return None
    return ns if 0 <= ns <= _LATEST_NS else None


def end_after(start_ns: int, duration: object, unit_ns: int) -> int:
    """A duration that is absent, negative or nonsense counts as none: the span is worth more than its length."""
    return min(start_ns + (nanoseconds(duration, unit_ns) or 0), _LATEST_NS)


def _decimal(value: str | float) -> Decimal | None:
    text = value.strip() if isinstance(value, str) else str(value)
    if len(text) > 40:  # no number of interest is as long, and long ones take long
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    # The exponent is bounded too: the integer of `1e999999` has a million digits.
    return number if number.is_finite() and number.adjusted() < 20 else None
