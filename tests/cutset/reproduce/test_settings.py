from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.settings import ReproductionSettings
from cutset.reproduce.strategies import SiteStrategyName


def test_a_search_that_is_told_nothing_tries_all_that_cutset_can_do():
    settings = ReproductionSettings()
    assert set(settings.faults) == set(FaultKind)
    assert settings.strategy is SiteStrategyName.BEST_FIRST
    assert (settings.rounds, settings.jobs, settings.second_fault, settings.minimise) == (200, 1, True, False)
