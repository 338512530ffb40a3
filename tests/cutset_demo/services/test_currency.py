import asyncio

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset_demo import boutique_pb2 as pb
from cutset_demo.money import from_nanos, to_nanos
from cutset_demo.replica import RefusedError
from cutset_demo.services.currency import RATES, convert

amounts = st.integers(0, 10**15)
codes = st.sampled_from(sorted(RATES))


def converted(nanos: int, from_code: str, to_code: str) -> pb.Money:
    request = pb.CurrencyConversionRequest(amount=from_nanos(nanos, from_code), to_code=to_code)
    return asyncio.run(convert(None, request))


@given(amounts, codes)
def test_converting_to_the_same_currency_changes_nothing(nanos, code):
    assert converted(nanos, code, code) == from_nanos(nanos, code)


@given(amounts, codes, codes)
def test_converting_there_and_back_loses_less_than_a_thousandth_of_a_cent(nanos, one, other):
    there = converted(nanos, one, other)
    assert abs(to_nanos(converted(to_nanos(there), other, one)) - nanos) < 10_000


@pytest.mark.parametrize(("from_code", "to_code"), [("XXX", "USD"), ("USD", "XXX"), ("USD", "")])
def test_an_unknown_currency_is_refused(from_code, to_code):
    with pytest.raises(RefusedError, match="no such currency") as refusal:
        converted(1, from_code, to_code)
    assert refusal.value.code is grpc.StatusCode.INVALID_ARGUMENT
