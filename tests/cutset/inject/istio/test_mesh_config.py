import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.cluster_resources import resource
from tests.samples.installations import installation

from cutset.errors import UsageError
from cutset.inject.istio.mesh_config import (
    entry_in,
    owner_of,
    parsed_mesh,
    provider_entry,
    with_entry,
    without_entry,
)

ENTRY = provider_entry(installation())
OTHER = provider_entry(installation(collector="otel.obs.svc.cluster.local:4317"))
PROVIDERS = "extensionProviders:\n- name: zipkin\n  zipkin: {service: zipkin.obs, port: 9411}\n"
TEXTS = [
    "",
    "# ours\ntrustDomain: cluster.local",
    "trustDomain: cluster.local\r\naccessLogFile: ''\r\n",
    PROVIDERS,
    "a: 1\n" + PROVIDERS.replace("\n", "\n  ", 2).rstrip(" ") + "# end",
    "---\na: {b: [1]}\n",
    "extensionProviders:\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_entry_is_put_in_and_taken_out_again_byte_by_byte(text: str) -> None:
    changed = with_entry(text, ENTRY)
    assert entry_in(changed, "cutset") == ENTRY
    assert with_entry(changed, ENTRY) == changed
    assert without_entry(changed, "cutset") == text


@given(
    st.dictionaries(st.sampled_from("abcd"), st.integers() | st.text("xyz '\"#", max_size=5)),
    st.none() | st.lists(st.fixed_dictionaries({"name": st.text("xyz", min_size=1)}), min_size=1),
    st.booleans(),
)
def test_whatever_else_is_there_stays(
    others: dict[str, object], providers: list[dict[str, str]] | None, indented: bool
) -> None:
    document = others | ({"extensionProviders": providers} if providers else {})
    text = yaml.safe_dump(document, default_flow_style=False) if document else ""
    text = text.replace("\n- ", "\n  - ") if indented else text
    changed = with_entry(text, ENTRY)
    assert without_entry(changed, "cutset") == text
    assert yaml.safe_load(changed) == document | {"extensionProviders": [ENTRY, *(providers or [])]}


def test_environments_with_collectors_of_their_own_come_and_go_in_any_order() -> None:
    both = with_entry(with_entry("a: 1\n", ENTRY), OTHER)
    assert entry_in(without_entry(both, "cutset"), "cutset-shop") == OTHER
    assert without_entry(without_entry(both, "cutset"), "cutset-shop") == "a: 1\n"
    assert without_entry(without_entry(both, "cutset-shop"), "cutset") == "a: 1\n"


def test_an_entry_for_another_collector_is_replaced() -> None:
    moved = {**ENTRY, "opentelemetry": {"service": "elsewhere", "port": 1}}
    assert with_entry(with_entry("a: 1\n", moved), ENTRY) == with_entry("a: 1\n", ENTRY)


@pytest.mark.parametrize("text", ["{a: 1}", "extensionProviders: []\n", "extensionProviders: [{name: x}]\n"])
def test_what_is_written_in_another_way_is_left_alone_and_the_lines_are_told(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        with_entry(text, ENTRY)
    assert "    - name: cutset\n      opentelemetry:\n" in refused.value.hint


def test_what_somebody_else_wrote_under_our_name_stays() -> None:
    text = yaml.safe_dump({"extensionProviders": [ENTRY]})
    assert with_entry(text, ENTRY) == text == without_entry(text, "cutset")


@pytest.mark.parametrize(
    ("metadata", "owner"),
    [
        ({"labels": {"app.kubernetes.io/managed-by": "Helm"}}, "Helm"),
        ({"labels": {"operator.istio.io/managed": "Reconcile"}}, "istioctl or an operator"),
        ({"annotations": {"argocd.argoproj.io/tracking-id": "x"}}, "Argo CD"),
        ({"managedFields": [{"manager": "kubectl"}, {"manager": "helm"}]}, "Helm"),
        ({"labels": {"istio.io/rev": "default"}}, ""),
    ],
)
def test_who_would_write_it_again_is_known(metadata: dict[str, object], owner: str) -> None:
    assert owner_of(resource("ConfigMap", "istio", {}, **metadata)) == owner


def test_a_mesh_without_configuration_says_nothing() -> None:
    assert parsed_mesh(None) == parsed_mesh({"data": {"mesh": ": :"}}) == {}
