from cutset_pytest.exploring import told

FINDING = {
    "cut": "cart/GET /items",
    "user_sees": "no answer: AssertionError: not graceful",
    "replay": "pytest --cutset-replay 1f3a90bc",
    "accepted": False,
    "minimal": True,
}
EXPLORED = {
    "complete_up_to": 2,
    "max_size": 2,
    "effects": ["abort(503)", "timeout"],
    "experiments": 1,
    "runs": 9,
    "findings": [],
    "left_open": [],
    "asides": [],
    "rests_on": "this and that",
}
FOR = "for abort(503), timeout"


def test_what_is_complete_is_said_with_what_it_took():
    assert told(EXPLORED) == [
        f"complete up to size 2 {FOR}: 1 experiment, 9 runs of the body",
        "rests on: this and that",
    ]


def test_what_is_not_complete_says_so_and_why():
    less = EXPLORED | {"complete_up_to": 1, "left_open": ["the budget is spent"]}
    assert told(less) == [
        f"complete up to size 1 {FOR}, not up to size 2: 1 experiment, 9 runs of the body",
        "rests on: this and that",
        "? the budget is spent",
    ]
    assert told(EXPLORED | {"complete_up_to": -1}) == [
        "not complete, not up to size 2: 1 experiment, 9 runs of the body"
    ]


def test_findings_say_what_the_user_sees_and_how_to_try_them_again():
    accepted = FINDING | {"accepted": True, "minimal": False}
    assert told(EXPLORED | {"findings": [FINDING, accepted]})[2:] == [
        "x fails with cart/GET /items",
        "    AssertionError: not graceful",
        "    pytest --cutset-replay 1f3a90bc",
        "x accepted: fails with cart/GET /items (smaller cuts inside it are still to be tried)",
        "    AssertionError: not graceful",
    ]
