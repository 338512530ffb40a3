"""Reading the reports that the suites are compared by."""

from benchmarks.hook_suites import read_outcomes

REPORT = """
<testsuites><testsuite>
  <testcase classname="tests.test_a" name="test_good" time="0.1"><system-out>text</system-out></testcase>
  <testcase classname="tests.test_a" name="test_bad[1]"><failure message="x">text</failure></testcase>
  <testcase classname="tests.test_a" name="test_not_here"><skipped type="pytest.skip" message="y"/></testcase>
  <testcase classname="tests.test_b" name="test_ends_badly"/>
  <testcase classname="tests.test_b" name="test_ends_badly"><error message="at teardown"/></testcase>
</testsuite></testsuites>
"""


def test_each_test_has_its_outcome_and_that_of_its_teardown():
    assert read_outcomes(REPORT) == {
        "tests.test_a::test_good": "passed",
        "tests.test_a::test_bad[1]": "failure",
        "tests.test_a::test_not_here": "skipped",
        "tests.test_b::test_ends_badly": "passed error",
    }
