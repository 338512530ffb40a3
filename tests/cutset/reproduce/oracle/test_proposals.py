from cutset.reproduce.logs.reading import formats_of, read_log
from cutset.reproduce.oracle.proposals import proposed_oracles
from cutset.reproduce.python.log_dialect import PythonLogs

AT = "2026-11-16 03:00:00,001"
LOG = f"""\
{AT} INFO [MainThread] shop: starting
{AT} WARNING [MainThread] shop: payment 41 is late
{AT} WARNING [MainThread] shop: payment 42 is late
{AT} ERROR [MainThread] shop: payment failed (for good): /var/lib/shop/42 at 0x7f00aa
Traceback (most recent call last):
  File "/srv/shop/pay.py", line 3, in pay
shop.bank.Refused: no [funds]
{AT} INFO [MainThread] shop: 1 of 2 payments
"""


def proposed(log: str) -> list[tuple[str, str]]:
    dialect = PythonLogs()
    records = read_log(log, formats_of(log, dialect=dialect), dialect=dialect)
    return [(str(each.oracle), each.why) for each in proposed_oracles(log, records, dialect)]


def test_the_end_of_the_log_exceptions_and_alarms_are_proposed_the_latest_first_each_kind_once() -> None:
    assert proposed(LOG) == [
        ("log:1 of 2 payments", "the last message of the log"),
        ('exception:"shop.bank.Refused: no \\[funds\\]"', "the stack trace that ends in line 7"),
        ('log:"payment failed \\(for good\\): .* at .*"', "error, line 4"),
        ("log:payment 42 is late", "warning, line 3"),
        ("exit:!0", "the command exits with an error; a log does not tell"),
        ("hang", "it never ends; a log does not tell"),
    ]


def test_an_empty_log_leaves_what_no_log_tells() -> None:
    assert [oracle for oracle, _ in proposed("")] == ["exit:!0", "hang"]


def test_the_identity_of_a_java_object_is_another_in_the_next_run() -> None:
    log = f"{AT} ERROR [main] shop: Writing to sun.nio.ch.FileChannelImpl@710f4dc7 failed, ask a@b.example\n"
    assert proposed(log)[0][0] == 'log:"Writing to sun\\.nio\\.ch\\.FileChannelImpl@.* failed, ask a@b\\.example"'
