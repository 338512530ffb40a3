from dataclasses import replace

from rich.text import Text
from tests.samples.impacts import BEGIN, IMPACT, impact_events

from cutset.judge.impact import impact_of
from cutset.model.impact import ApiVerdict
from cutset.report.impact.terminal import history_lines, impact_lines

NAME = "frontend/POST /cart/checkout (entry)"


def plain(lines: object) -> list[str]:
    return [Text.from_markup(line).plain for line in lines]  # type: ignore[attr-defined]


def test_an_impact_is_told_from_what_was_done_to_what_to_do_next() -> None:
    trace = "000000000000000000000000000000a"

    assert plain(impact_lines(IMPACT, "cutset impact x")) == [
        (
            "✗ affected  currency/Convert answered 503 at 30 % of calls, in 5 % of live requests "
            "(1,210 requests with the fault, 1,199 control)"
        ),
        "! stopped by error-rate  2.1 % of unmarked requests failed, the limit is 2 %",
        "! problem  6 of 1,210 requests with the fault sent no span",
        f"{'':53}  success before  control   fault  more failures                p95            attempts",
        (
            f"  ✗ affected     {NAME}           100 %    100 %  70.1 %  +29.9 points [+20.9, +38.8]  41 ms → ∞      "
            "1.00 → 1.00"
        ),
        "                 72 of 241 failed with the fault, 0 of 238 without",
        "                 recovery   well again 1.4 s after the last fault",
        f"                 traces     {trace}0 {trace}1 {trace}2 and 69 more",
        (
            f"  ✓ resilient    {'frontend/GET / (entry)':36}         99.75 %  99.83 %   100 %  "
            "−0.17 points [−0.94, +0.51]  41 ms → 46 ms  1.00 → 1.00"
        ),
        "                 not more than 1.2 points of 602 requests can have failed by it",
        "                 slower     p95 is between 1.2 ms and 8.9 ms later than in the control",
        (
            f"  ? cannot tell  {'frontend/GET /gifts (entry)':36}           100 %    100 %  97.9 %  "
            "+2.1 points [−11.3, +15.5]   41 ms → 41 ms  1.00 → 1.00"
        ),
        "                 48 requests with the fault are too few",
        (
            f"  ✗ affected     {'checkout/PlaceOrder':36}           100 %    100 %  70.1 %  "
            "+29.9 points [+20.9, +38.8]  41 ms → ∞      1.00 → 1.00"
        ),
        "                 72 of 241 failed with the fault, 0 of 238 without",
        "                 recovery   still off at the end",
        (
            f"  ↯ the fault    {'currency/Convert':36}           100 %    100 %  76.7 %  +23.3 points                 "
            "41 ms → 41 ms  1.00 → 1.16"
        ),
        (
            "  398 attempts faulted, by the word of the mesh or of agents; "
            "3 of 21,600 unmarked requests failed during the fault (0.01 %)"
        ),
        (
            "  More failures: the share that failed with the fault, less that of the control at the same time, "
            "with 99 % intervals; less than 2 points is called resilient"
        ),
        "next    First see to what keeps this from being believed, then repeat it",
        "next    checkout/PlaceOrder does not cope with the fault: look at a failed trace, cutset harden has remedies",
        (
            "next    One API cannot be told yet: about 640 more requests in each group would do; "
            "let the window be longer, or the share larger"
        ),
        (
            "next    currency/Convert is called 1.16 times per request instead of 1.00: "
            "retries add load when it is in trouble anyway"
        ),
        "repeat  cutset impact x",
    ]


def test_names_are_not_taken_for_markup() -> None:
    hostile = replace(IMPACT.apis[0].api, api="[red]GET /[/]")
    impact = replace(IMPACT, apis=(replace(IMPACT.apis[0], api=hostile),))

    assert "frontend/[red]GET /[/] (entry)" in "\n".join(plain(impact_lines(impact)))


def test_what_is_not_finished_and_saw_nothing_says_so() -> None:
    lines = plain(impact_lines(replace(IMPACT, apis=(), target=(), finished=False, guard=None, others_failed=(0, 0))))

    assert lines[0].startswith("? cannot tell  currency/Convert")
    assert lines[1] == "! unfinished  what is known so far"
    assert any("no unmarked request was seen" in line for line in lines)


def test_what_is_measured_is_told_as_the_truth_is() -> None:
    told = "\n".join(plain(impact_lines(impact_of(impact_events()))))

    assert "✗ affected     checkout/PlaceOrder" in told
    assert "✓ resilient    frontend/GET / (entry)" in told
    assert "? cannot tell  frontend/GET /gifts (entry)" in told


def test_the_history_has_a_line_for_each_run() -> None:
    resilient = replace(IMPACT, apis=IMPACT.apis[1:2], guard=None, run="two", finished=False)
    first, second = plain(history_lines([(BEGIN, IMPACT), (BEGIN, resilient)]))

    assert first.startswith(f"{IMPACT.run}  2027-01-1")
    assert first.endswith(
        "✗ affected     currency/Convert answered 503 at 30 % of calls, in 5 % of live requests  stopped by error-rate"
    )
    assert f"✓ {ApiVerdict.RESILIENT}    currency" in second
    assert second.endswith("unfinished")
