from itertools import islice

from benchmarks.truth.chaos import BOUNDARIES, CUTSET, LEFT_DEAD, VICTIMS, chaos, kills_in_turn
from benchmarks.truth.mortal_shop import Part


def test_what_is_killed_meanwhile_makes_nobody_claim_too_much_and_resuming_reaches_the_whole_answer_key():
    assert chaos(3, ["GET /product-meta/{id}"]) == {"chaos_kills": 3, "overclaimed": 0, "recovered": 3}


def test_every_part_is_killed_at_every_boundary():
    kills = list(islice(kills_in_turn(), len(VICTIMS) * len(BOUNDARIES)))

    assert {*Part, CUTSET} == set(VICTIMS)
    assert {(kill.victim, kill.after_events) for kill in kills} == {(v, b) for v in VICTIMS for b in BOUNDARIES}
    assert sum(kill.seconds == float("inf") for kill in kills) == len(kills) // LEFT_DEAD
