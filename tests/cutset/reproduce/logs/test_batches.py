from cutset.reproduce.logs.batches import comes_and_goes

NOISE = {"fetcher: removed Set(orders-*, users-*)", "fetcher: removed Set(users-*)", "fetcher: idle"}


def test_other_batches_of_the_same_come_and_go_too():
    does = comes_and_goes(NOISE)
    assert does("fetcher: removed Set(orders-*)")
    assert does("fetcher: removed Set(users-*, orders-*)")
    assert all(map(does, NOISE))


def test_what_names_something_else_does_not():
    does = comes_and_goes(NOISE)
    assert not does("fetcher: removed Set(orders-*, payments-*)")
    assert not does("fetcher: lost Set(orders-*)")
    assert not does("fetcher: removed Set()")
    assert not does("fetcher: removed")
    assert not does("fetcher: failed (disk full)")


def test_what_each_of_two_lists_has_had_is_another_message_when_it_comes_together():
    does = comes_and_goes({"job [a] ended (well)", "job [b] ended (badly)"})
    assert not does("job [a] ended (badly)")
