from cutset.reproduce.logs.levels import contradict, usual_level


def test_a_level_has_one_name():
    assert [usual_level(name) for name in ("warn", "E", "40", "Fatal", "crit")] == [
        *("WARNING", "ERROR", "ERROR", "CRITICAL", "CRITICAL")
    ]
    assert usual_level("audit") == "AUDIT"


def test_levels_contradict_each_other_unless_one_is_not_known_or_of_the_programs_own():
    assert contradict("INFO", "ERROR")
    assert not contradict("INFO", "INFO")
    assert not contradict("", "ERROR")
    assert not contradict("AUDIT", "ERROR")
