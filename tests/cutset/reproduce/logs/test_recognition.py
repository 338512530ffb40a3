from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.logs.recognition import Origin, located, sightings
from cutset.reproduce.logs.statements import LogStatement, index_statements, pattern_of

STATEMENTS = index_statements([LogStatement("app:7", 0, "", "", *pattern_of(("order ", None, " lost")))])
ORIGINS = (Origin("app", 3, 12, "OSError"), Origin("app", 4, 20, "KeyError"))


def seen(message: str, *origins: Origin) -> list[tuple[str, int]]:
    found = sightings(LogRecord(1, "", "", "", message), STATEMENTS, origins)
    return [(each.key, len(each.origins)) for each in found]


def test_a_record_is_known_by_its_statement_its_traceback_or_both():
    assert seen("order 7 lost") == [("app:7", 0)]
    assert seen("something", *ORIGINS) == [("raised at app:12", 2)]
    assert seen("order 7 lost", *ORIGINS) == [("app:7", 0), ("raised at app:12", 2)]


def test_what_the_program_has_no_part_in_is_not_seen():
    assert seen("something") == []


def test_an_exception_is_raised_where_it_leaves_the_program_however_deep_in_a_library_it_arose():
    record = LogRecord(1, "", "", "ERROR", "order 7 lost", raised="KeyError raised in __getitem__")
    assert located(record, sightings(record, STATEMENTS, ORIGINS)).raised == "KeyError raised at app:20"
    assert located(record, sightings(record, STATEMENTS, ())) == record
