from tests.samples.surveyed_shop import surveyed_shop

from cutset.app.survey import rank_apis
from cutset.report.survey.rank import to_document, to_lines
from cutset.select.api_rank import Preference
from cutset.select.rankings import Ranking

SCORES = rank_apis(surveyed_shop())


def test_apis_are_listed_by_the_chosen_ranking_with_all_scores() -> None:
    assert list(to_lines(SCORES, Ranking.DYNAMIC, 1)) == [
        "[bold]   api-rank  static  dynamic  API[/]",
        "1     1.000   1.000    1.000  redis/GET",
        "\n[dim]2 APIs in all; `--top` shows more[/]",
    ]
    assert len(list(to_lines(SCORES, Ranking.STATIC, 2))) == 3


def test_the_document_has_all_apis() -> None:
    document = to_document(SCORES, Ranking.DYNAMIC, Preference.UNIFORM)
    assert (document["by"], document["preference"]) == ("dynamic", "uniform")
    assert [(api["api"], api["dynamic"]) for api in document["apis"]] == [("redis/GET", 1.0), ("cart/GetCart", 0.2)]
