from cutset.model.checkup import Checkup, note, well, wrong


def test_only_what_is_wrong_is_wrong() -> None:
    bad = wrong("key", "another", "take this one", fatal=True)

    assert Checkup((well("servers", "there"), note("retries", "some"), bad), 5.0).wrong == (bad,)
