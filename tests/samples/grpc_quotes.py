"""A service of quotes, for clients of gRPC."""

import grpc
from google.protobuf.wrappers_pb2 import StringValue

ENDPOINT = "rpc/grpc/GetQuote"


CODECS = (StringValue.SerializeToString, StringValue.FromString)


ASKED = StringValue(value="boots")


class Quotes:
    def __init__(self):
        self.asked = []  # metadata of each call

    def get(self, request, context):
        self.asked.append(dict(context.invocation_metadata()))
        if request.value == "nothing":
            context.abort(grpc.StatusCode.NOT_FOUND, "no such product")
        return StringValue(value=f"{request.value}: 12 EUR")

    def list(self, request, context):
        yield self.get(request, context)
        yield self.get(request, context)

    def sum(self, requests, context):
        return self.get(StringValue(value="+".join(request.value for request in requests)), context)

    def chat(self, requests, context):
        for request in requests:
            yield self.get(request, context)


STREAMS = {"ListQuotes": ("unary_stream", ASKED), "Chat": ("stream_stream", [ASKED, ASKED])}


def get_quote(channel):
    return channel.unary_unary("/shop.Quotes/GetQuote", *CODECS)
