from cutset.guards.vital_signs import Answers, VitalSigns


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_answers_are_remembered_for_as_long_as_was_asked_for() -> None:
    clock = Clock()
    signs = VitalSigns(over=10, latency=1.0, clock=clock)
    signs.answered(failed=True, seconds=0.1)
    clock.now += 6
    signs.answered(failed=False, seconds=1.5)
    signs.answered(failed=True, seconds=1.5)
    signs.counted(5, 2, 1)

    assert signs.lately() == Answers(8, 4, 2)
    clock.now += 5
    assert signs.lately() == Answers(7, 3, 2)
    clock.now += 6
    assert signs.lately() == Answers()


def test_without_a_limit_nothing_is_slow() -> None:
    signs = VitalSigns()
    signs.answered(failed=False, seconds=3600)
    assert signs.lately() == Answers(1, 0, 0)


def test_silence_counts_from_the_first_mark_that_no_span_has_followed() -> None:
    clock = Clock()
    signs = VitalSigns(clock=clock)
    assert signs.silence() == 0
    signs.mark()
    clock.now += 3
    signs.mark()
    assert signs.silence() == 3
    signs.span_arrived()
    clock.now += 60
    assert signs.silence() == 0
    signs.mark()
    assert (signs.silence(), signs.marked) == (0, 3)


def test_what_fails_with_a_fault_is_counted_for_itself() -> None:
    signs = VitalSigns()
    signs.answered_with_fault(failed=True)
    signs.answered_with_fault(failed=False)
    assert (signs.failed, signs.lately()) == (1, Answers())
