import grpc

from cutset_demo import boutique_pb2 as pb
from cutset_demo.methods import CONVERT, GET_SUPPORTED_CURRENCIES
from cutset_demo.money import from_nanos, to_nanos
from cutset_demo.replica import Handlers, RefusedError, Replica

# Hundred-thousandths of a unit for one euro, from Online Boutique's table: the six currencies that its page offers.
RATES = {"CAD": 151_280, "EUR": 100_000, "GBP": 85_970, "JPY": 12_640_000, "TRY": 612_470, "USD": 113_050}


async def get_supported_currencies(_replica: Replica, _request: pb.Empty) -> pb.GetSupportedCurrenciesResponse:
    return pb.GetSupportedCurrenciesResponse(currency_codes=RATES)


async def convert(_replica: Replica, request: pb.CurrencyConversionRequest) -> pb.Money:
    from_code, to_code = request.amount.currency_code, request.to_code
    if unknown := [code for code in (from_code, to_code) if code not in RATES]:
        raise RefusedError(grpc.StatusCode.INVALID_ARGUMENT, f"no such currency: `{unknown[0]}`")
    return from_nanos(to_nanos(request.amount) * RATES[to_code] // RATES[from_code], to_code)


HANDLERS: Handlers = {GET_SUPPORTED_CURRENCIES: get_supported_currencies, CONVERT: convert}
