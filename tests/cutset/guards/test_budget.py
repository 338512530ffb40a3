from cutset.guards.budget import spent_budget
from cutset.guards.settings import GuardSettings
from cutset.guards.vital_signs import VitalSigns


def test_a_budget_is_spent_when_that_many_were_marked_or_failed() -> None:
    signs = VitalSigns()
    settings = GuardSettings(max_marked=2, max_failed=1)
    signs.mark()
    assert spent_budget(signs, settings) == ""
    signs.answered_with_fault(failed=True)
    assert spent_budget(signs, settings) == "1 requests with a fault failed, and `max_failed` is 1"
    signs.mark()
    assert spent_budget(signs, settings) == "2 requests were marked, and `max_marked` is 2"


def test_0_and_nothing_are_no_limit() -> None:
    signs = VitalSigns()
    signs.mark()
    signs.answered_with_fault(failed=True)
    assert spent_budget(signs, GuardSettings()) == ""
    assert spent_budget(signs, GuardSettings(max_marked=0, max_failed=0)) == ""
