from random import Random

from cutset.judge.group_balance import balance, is_unequal
from cutset.model.impact import Group


def users(share_of_fault: float, count: int, seed: int) -> bool:
    random, split = Random(seed), balance()
    for _ in range(count):
        split.add(Group.FAULT if random.random() < share_of_fault else Group.CONTROL)
    return is_unequal(split)


def test_a_fair_coin_is_never_called_unequal_in_forty_runs() -> None:
    assert not any(users(0.5, 2000, seed) for seed in range(40))


def test_a_fifth_of_one_groups_marks_lost_is_found_whichever_group_it_is() -> None:
    lost = 0.8 / 1.8

    assert all(users(lost, 4000, seed) for seed in range(5))
    assert all(users(1 - lost, 4000, seed) for seed in range(5))


def test_540_and_471_of_10_000_users_are_chance() -> None:
    """As it was seen with a sound split; a test of their requests called it broken."""
    groups, split = [Group.FAULT] * 540 + [Group.CONTROL] * 471, balance()
    Random(1).shuffle(groups)
    for group in groups:
        split.add(group)

    assert not is_unequal(split)
