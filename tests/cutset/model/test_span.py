from hypothesis import given
from hypothesis import strategies as st

from cutset.model.span import KEPT_ATTRIBUTES, Span, SpanKind, SpanLabel, row_of, span_of_row

texts = st.text(min_size=1, max_size=5)


@given(
    st.dictionaries(st.sampled_from(sorted(KEPT_ATTRIBUTES)), texts), st.sampled_from(SpanKind), st.booleans(), texts
)
def test_a_row_has_all_that_a_span_has(attributes, kind, error, text):
    span = Span(text, "b1", "b2", "cart", text, kind, 5, 7, error, attributes)

    assert span_of_row(row_of(span)) == span


def test_a_label_is_in_a_row_as_it_is_itself():
    label = SpanLabel("cart", "GET", SpanKind.SERVER, error=True, url_path="/items", peer="shop")
    span = Span("a1", "b1", "", "cart", "GET", SpanKind.SERVER, 5, 7, error=True)
    attributes = {"url.path": "/items", "peer.service": "shop"}
    row = row_of(Span(*(getattr(span, name) for name in Span.__slots__[:9]), attributes))

    assert SpanLabel(*row[5]) == label
