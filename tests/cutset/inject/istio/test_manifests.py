from pathlib import PurePosixPath

import yaml
from tests.samples.cluster_resources import shop
from tests.samples.installations import installation

from cutset.inject.istio.discovery import view_of
from cutset.inject.istio.manifests import chart_files, manifest_text
from cutset.inject.istio.planning import install_plan

WANTED = installation(image="registry.example/cutset:1")
PLAN = install_plan(WANTED, view_of(shop(), ["shop"]), shop())


def test_the_manifests_are_what_would_be_applied() -> None:
    text = manifest_text(PLAN)
    assert list(yaml.safe_load_all(text)) == list(PLAN.resources)
    assert "#   opentelemetry:" in text.split("---")[0]
    assert "inline_string: |" in text


def test_a_chart_has_the_same_resources_and_an_image_to_choose() -> None:
    files = chart_files(PLAN, "shop")
    assert yaml.safe_load(files[PurePosixPath("Chart.yaml")])["name"] == "cutset-shop"
    assert yaml.safe_load(files[PurePosixPath("values.yaml")]) == {"image": "registry.example/cutset:1"}
    rendered = [
        text.replace("{{ .Values.image }}", "registry.example/cutset:1").replace('{{ "{{" }}', "{{")
        for name, text in files.items()
        if name.suffix == ".yaml" and name.parent.name == "templates"
    ]
    assert [yaml.safe_load(each) for each in rendered] == list(PLAN.resources)


def test_helm_finds_nothing_of_its_language_but_the_image() -> None:
    for text in chart_files(PLAN, "shop").values():
        left = text.replace("{{ .Values.image }}", "").replace('{{ "{{" }}', "")
        assert "{{" not in left
