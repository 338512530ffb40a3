from pathlib import Path

from benchmarks.truth.canaries import PLACES, Planted, search_canaries


def test_a_secret_is_found_in_any_usual_spelling() -> None:
    planted = Planted({"key": "canary/key 0123456789abcdef"})
    for text in (
        b"x canary/key 0123456789abcdef y",
        b"x=canary%2Fkey%200123456789abcdef",
        b"63616e6172792f6b65792030313233343536373839616263646566",
        b"eHggY2FuYXJ5L2tleSAwMTIzNDU2Nzg5YWJjZGVmIHh4",
    ):
        assert planted.found_in(text) == ["key"]
    assert planted.found_in(b"canary/key") == []


def test_no_secret_of_the_user_is_in_what_commands_leave_and_say(tmp_path: Path) -> None:
    """Of three commands; all of them are in `make bench-truth`."""
    commands = [["explore"], ["report", "--json", "--junit", "OUT/junit.xml", "--sarif", "OUT/report.sarif"], ["check"]]
    searched = search_canaries(tmp_path / "inn", commands=commands, at_the_end=False)
    assert searched.found == ()
    assert searched.open_to_others == ()
    assert searched.checks > 12 * len(PLACES)
