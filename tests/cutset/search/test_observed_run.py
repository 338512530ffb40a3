from cutset.search.observed_run import NOT_CALLED, ObservedRun, statuses

A, B, C = 1, 2, 4


def test_what_changed_is_what_was_answered_otherwise_or_called_by_another_or_not_at_all() -> None:
    usual = ObservedRun(A | B | C, {A: ("200@",), B: ("200@",), C: ("200@A",)})
    run = ObservedRun(A | B, {A: ("503@",), B: ("200@", "200@")})

    run.note_changes(usual)

    assert run.changed == {A: ("503@",), B: ("200@", "200@"), C: NOT_CALLED}


def test_runs_are_the_same_however_long_they_took() -> None:
    run = ObservedRun(A, {A: ("200@",)}, {A: 3})

    assert run.is_same(ObservedRun(A, {A: ("200@",)}, {A: 5}))
    assert not run.is_same(ObservedRun(A, {A: ("200@B",)}, {A: 3}))


def test_statuses_are_without_callers() -> None:
    assert statuses(("200@shop/A", "503@shop/B")) == {"200", "503"}
