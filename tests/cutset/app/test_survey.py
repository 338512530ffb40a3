from pathlib import Path

import pytest
from tests.samples.survey_traces import some_traces
from tests.samples.surveyed_shop import HOME_PAGE, surveyed_shop

from cutset.app.survey import (
    class_named,
    draw_graph,
    find_endpoints,
    find_workflows,
    rank_apis,
    service_graph,
    study_traces,
    survey_traces,
)
from cutset.errors import TargetError, UsageError
from cutset.model.steps import finished
from cutset.model.survey import ClassSummary, Representative, Survey
from cutset.select.rankings import Ranking
from cutset.store.spans import begin_ingest
from cutset.survey.run import PartsRead, SurveySettings

SHOP = surveyed_shop()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with begin_ingest(tmp_path) as ingest:
        ingest.add("generated", some_traces(40))
    return tmp_path


def test_stored_traces_are_surveyed_and_progress_is_told(store: Path) -> None:
    told: list[PartsRead] = []
    survey = finished(survey_traces(store, workers="1"), told.append)

    assert survey.traces == 40
    assert told[-1].done == told[-1].total


def test_all_conclusions_are_drawn_at_once_and_none_from_nothing(store: Path, tmp_path: Path) -> None:
    told: list[PartsRead] = []
    studied = study_traces(store, told.append)

    assert studied.survey.traces == studied.totals.traces == 40
    assert studied.scores is not None
    assert studied.graph.nodes
    assert told
    with pytest.raises(UsageError, match="no traces"):
        study_traces(tmp_path / "empty")


def test_a_window_of_time_and_settings_are_followed(store: Path) -> None:
    until_ns = 1_700_000_000_000_000_000 + 10_000_000
    survey = finished(survey_traces(store, until_ns=until_ns, settings=SurveySettings(by_calls=True)))

    assert survey.traces == 10
    assert any("(calls " in name for name in survey.classes)


def test_no_traces_and_none_of_that_time_are_told_apart(store: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There are no traces in"):
        finished(survey_traces(tmp_path / "elsewhere"))
    with pytest.raises(UsageError, match="are of that time"):
        finished(survey_traces(store, since_ns=2_000_000_000_000_000_000))


def test_a_class_is_found_by_its_name_or_what_is_close_is_told() -> None:
    assert class_named(SHOP, "GET /") is SHOP.classes["GET /"]
    with pytest.raises(UsageError, match="There is no class `GET /card`") as error:
        class_named(SHOP, "GET /card")
    assert error.value.hint == "Did you mean `GET /cart` or `GET /`? `cutset classes` lists them"


def test_a_front_end_must_be_a_service() -> None:
    assert find_workflows(SHOP, front_ends=["web"], top=1).workflows[0].services == ("redis", "web")
    with pytest.raises(UsageError, match="There is no service `wep`"):
        find_workflows(SHOP, front_ends=["wep"])


def test_to_rank_apis_there_must_be_calls() -> None:
    assert set(rank_apis(SHOP)) == set(Ranking)
    alone = Survey({"GET /": ClassSummary("GET /", "web", Representative(1.0, "1"), {HOME_PAGE: 1}, spans=1)})
    with pytest.raises(UsageError, match="No trace has a call"):
        rank_apis(alone)


def test_targets_are_those_of_the_most_complex_classes() -> None:
    assert [str(target.point) for target in find_endpoints(SHOP, top=1).targets] == [
        "web>redis/GET",
        "web>cart/GetCart",
    ]


def test_the_graph_of_one_class_is_drawn(tmp_path: Path) -> None:
    graph = service_graph(SHOP, "GET /cart")
    draw_graph(graph, tmp_path / "cart.svg", "The cart")
    assert "The cart" in (tmp_path / "cart.svg").read_text()
    with pytest.raises(TargetError, match="Cannot write"):
        draw_graph(graph, tmp_path / "absent" / "cart.svg", "")
