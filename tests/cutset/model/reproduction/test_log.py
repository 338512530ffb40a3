from cutset.model.reproduction.log import LogRecord, Observable


def test_what_a_log_does_not_tell_is_empty():
    record = LogRecord(7, "", "", "", "order lost")
    assert (record.traceback, record.raised) == ((), "")


def test_observables_have_an_order_that_does_not_depend_on_the_run():
    late, early = Observable("lost", "", 9), Observable("lost", "", 3)
    assert sorted([late, Observable("gone", "b", 7), early]) == [Observable("gone", "b", 7), early, late]
