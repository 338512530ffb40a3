from cutset.traces.tally import ReadTally


def test_reasons_are_counted_and_the_first_place_is_kept() -> None:
    tally = ReadTally()
    tally.skip("malformed line", "a: line 3")
    tally.skip("malformed line", "b: line 1", 2)

    assert tally.skipped == {"malformed line": 3}
    assert tally.first_at == {"malformed line": "a: line 3"}


def test_tallies_add_up() -> None:
    total, other = ReadTally(5), ReadTally(7)
    total.skip("torn", "a")
    other.skip("torn", "b", 2)
    other.skip("empty", "c")
    total.add(other)

    assert total == ReadTally(12, total.skipped, {"torn": "a", "empty": "c"})
    assert total.skipped == {"torn": 3, "empty": 1}


def test_a_copy_counts_for_itself() -> None:
    tally = ReadTally(5)
    tally.skip("torn", "a")
    copied = tally.copy()
    tally.skip("torn", "b")

    assert copied == ReadTally(5, copied.skipped, {"torn": "a"})
    assert copied.skipped == {"torn": 1}
