import io
from dataclasses import replace

import pytest

from cutset.lineage.api_names import api_of, remote_point
from cutset.lineage.identifiers import mask_name
from cutset.model.span import KEPT_ATTRIBUTES, Span, SpanKind, SpanLabel, span_of_row
from cutset.traces.files import alibaba
from cutset.traces.files.alibaba import read
from cutset.traces.tally import ReadTally

HEADER = "traceid,timestamp,rpcid,um,rpctype,dm,interface,rt"
TRACE = "0b01271815919582432199000ef9a6"


def spans_of(*lines, tally=None):
    """Lines without their trace: `timestamp,rpcid,um,rpctype,dm,interface,rt`."""
    content = "\n".join([HEADER, *(f"{TRACE},{line}" for line in lines)])
    return list(map(span_of_row, read(io.BytesIO(content.encode()), tally or ReadTally())))


def summary(spans):
    return {(span.span_id, span.parent_id, span.kind.value, span.service, span.name) for span in spans}


def test_the_two_records_of_a_call_are_one_span_of_the_callee():
    root, call = spans_of(
        "100,0,,http,gate,/,-50",
        "111,0.1,gate,rpc,cart,get,-20",
        "110,0.1,gate,rpc,cart,get,22",
    )
    assert root.parent_id == ""
    assert call == Span(
        TRACE.zfill(32),
        "0.1",
        "0",
        "cart",
        "get",
        SpanKind.SERVER,
        111_000_000,
        131_000_000,
        attributes={"rpc.method": "get"},
    )


@pytest.mark.parametrize("rt", ["-20", "22", "0", ""])
def test_one_record_of_a_call_is_enough(rt):
    spans = spans_of("100,0,,http,gate,/,-50", f"110,0.1,gate,rpc,cart,get,{rt}")
    assert ("0.1", "0", "server", "cart", "get") in summary(spans)


def test_two_records_of_less_than_a_millisecond_are_one_call():
    spans = spans_of("100,0,,http,gate,/,-50", "110,0.1,gate,rpc,cart,get,0", "113,0.1,gate,rpc,cart,get,0")
    assert len(spans) == 2


def test_what_one_record_does_not_know_the_other_tells():
    spans = spans_of(
        "100,0,,http,gate,/,-50",
        "110,0.1,gate,rpc,(?),get,22",
        "110,0.1,(?),rpc,cart,get,-22",
        "120,0.2,gate,http,UNKNOWN,,5",
    )
    assert summary(spans) == {
        ("0", "", "server", "gate", "/"),
        ("0.1", "0", "server", "cart", "get"),
        ("0.2", "0", "client", "gate", "http"),  # whom it called nobody knows
    }


def test_who_made_the_calls_inside_a_call_answered_it():
    spans = spans_of("100,0,,http,gate,/,-50", "110,0.1,gate,rpc,(?),get,22", "111,0.1.1,cart,mc,store,,1")
    assert ("0.1", "0", "server", "cart", "get") in summary(spans)


def test_the_callee_knows_best_what_it_is_called():
    spans = spans_of("100,0,,http,gate,/,-50", "110,0.1,gate,rpc,alias,a,22", "110,0.1,gate,rpc,cart,get,-20")
    assert summary(spans) == {("0", "", "server", "gate", "/"), ("0.1", "0", "server", "cart", "get")}


def test_calls_of_stores_are_their_callers_spans():
    cache, database, _ = sorted(
        spans_of("100,0,,http,gate,/,-50", "110,0.1,gate,mc,m1,,0", "120,0.2,gate,db,d1,,3"),
        key=lambda span: (span.kind, span.start_ns),
    )
    assert (cache.service, cache.kind, cache.name) == ("gate", SpanKind.CLIENT, "mc")
    assert cache.attributes == {"db.system.name": "memcached", "peer.service": "m1"}
    assert database.attributes == {"db.system.name": "other_sql", "peer.service": "d1"}


def test_calls_that_share_an_id_stay_apart_and_calls_inside_find_the_right_one():
    spans = spans_of(
        "100,0,,http,gate,/,-50",
        "110,0.1,gate,mc,m1,,1",
        "111,0.1,gate,mc,m2,,1",
        "112,0.1,gate,rpc,cart,get,-9",
        "122,0.1,gate,rpc,user,who,-9",
        "123,0.1.1,user,mc,m3,,1",
        "113,0.1.1,cart,mc,m4,,1",
    )
    assert len({span.span_id for span in spans}) == 7
    by_peer = {span.attributes.get("peer.service"): span for span in spans}
    service_of = {span.span_id: span.service for span in spans}
    assert service_of[by_peer["m3"].parent_id] == "user"
    assert service_of[by_peer["m4"].parent_id] == "cart"
    assert service_of[by_peer["m1"].parent_id] == "gate"


def test_equal_lines_count_once():
    assert len(spans_of("100,0,,http,gate,/,-50", *["110,0.1,gate,rpc,cart,get,-3"] * 4)) == 2


def test_a_call_through_a_proxy_without_a_name_is_its_callers():
    spans = spans_of("100,0,,http,gate,/,-50", "110,0.1.1,(?),http,shop,/,-30", "111,0.1.1.1,shop,mc,m1,,1")
    assert ("0.1.1", "0", "server", "shop", "/") in summary(spans)


def test_the_caller_of_a_call_whose_surroundings_are_lost_shows_in_a_half_of_its_own():
    spans = spans_of("100,0,,http,gate,/,-50", "110,0.5.1,cart,rpc,user,who,-9")
    assert summary(spans) == {
        ("0", "", "server", "gate", "/"),
        ("0.5.1", "0.5/cart", "client", "cart", "who"),
        ("0.5.1", "0.5/cart", "server", "user", "who"),
    }
    assert spans[1].attributes["peer.service"] == "user"


def test_a_message_is_consumed_by_the_callee():
    producer, consumer = spans_of("100,0.3.17,orders,mq,mail,,-120")
    assert (producer.kind, producer.service) == (SpanKind.PRODUCER, "orders")
    assert (consumer.kind, consumer.service) == (SpanKind.CONSUMER, "mail")
    assert consumer.attributes == {"messaging.system": "mq"}


def test_a_services_own_work_is_internal():
    spans = spans_of("100,0,,http,gate,/,-50", "101,0.1,gate,userDefined,gate,,1")
    assert ("0.1", "0", "internal", "gate", "userDefined") in summary(spans)


def test_the_table_of_2022_differs_in_names_and_numbers():
    content = (
        "timestamp,traceid,service,rpc_id,um,uminstanceid,rpctype,interface,dm,dminstanceid,rt\n"
        "115352,T_11560863075,S_1,0,USER,UNKNOWN,http,i0,MS_1,MS_1_POD_0,12.0\n"
        "115353,T_11560863075,S_1,0.1,MS_1,MS_1_POD_0,rpc,i1,MS_2,MS_2_POD_7,2.0\n"
    )
    root, call = map(span_of_row, read(io.BytesIO(content.encode()), ReadTally()))
    assert (root.trace_id, root.service, root.parent_id) == ("T_11560863075", "MS_1", "")
    assert (call.service, call.name, call.parent_id) == ("MS_2", "i1", "0")
    assert call.end_ns - call.start_ns == 2_000_000


def test_lines_of_a_trace_need_not_be_adjacent(monkeypatch):
    lines = [
        f"t{trace},1,0{step},{um},rpc,{dm},i,-1"
        for step, um, dm in (("", "", "a"), (".1", "a", "b"))
        for trace in (1, 2, 3)
    ]
    content = "\n".join([HEADER, *lines]).encode()
    together = list(map(span_of_row, read(io.BytesIO(content), ReadTally())))
    assert {(span.trace_id, span.span_id, span.parent_id) for span in together} == {
        (f"t{trace}", *ids) for trace in (1, 2, 3) for ids in (("0", ""), ("0.1", "0"))
    }
    monkeypatch.setattr(alibaba, "MAX_LINES", 2)  # then traces come out in parts, but all of each
    in_parts = list(map(span_of_row, read(io.BytesIO(content), ReadTally())))
    assert {(span.trace_id, span.span_id) for span in in_parts} == {(span.trace_id, span.span_id) for span in together}


def test_lines_that_cannot_be_read_are_counted():
    tally = ReadTally()
    spans = spans_of(
        "100,0,,http,gate,/,-50", "soon,0.1,gate,mc,m1,,1", "100,,gate,mc,m1,,1", "100,0.2,gate,mc,m1,,--5", tally=tally
    )
    assert len(spans) == 1
    assert tally.skipped == {"CSV line without a time": 2, "CSV line without ids": 1}


def test_many_lines_with_one_id_do_not_take_quadratic_time():
    lines = [f"{number},0.1,u{number},rpc,d{number},i{number},{(-1) ** number * 7}" for number in range(10_000)]
    assert len({span.span_id for span in spans_of(*lines)}) == 10_000


@pytest.mark.parametrize("call_type", ["rpc", "http", "mc", "db", "mq", "new"])
def test_interfaces_are_opaque_names_that_nothing_may_mask(call_type):
    names = ["9e79a52aac234b57", "abcdefabcdefabcd", "12345678", "xK3f9Q27a1", "S_1"]
    lines = (f"{110 + n},0.{n},gate,{call_type},cart,{name},5" for n, name in enumerate(names, 1))
    spans = spans_of("100,0,,http,gate,/,-50", *lines)

    labels = [replace(label_of(span), name=mask_name(span.name)) for span in spans if span.span_id != "0"]
    apis = {remote_point(each, "gate").api if each.kind is SpanKind.CLIENT else api_of(each) for each in labels}
    assert {api.removeprefix("process ") for api in apis} == set(names)


def label_of(span):
    told = {KEPT_ATTRIBUTES[key]: value for key, value in span.attributes.items()}
    return SpanLabel(span.service, span.name, span.kind, **told)


def test_a_service_that_calls_itself_shows_in_both_halves():
    spans = spans_of("100,0,,http,gate,/,-50", "110,0.1,gate,rpc,gate,get,22")

    assert summary(spans) >= {("0.1", "0", "client", "gate", "get"), ("0.1", "0", "server", "gate", "get")}
