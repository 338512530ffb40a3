from dataclasses import replace

from cutset.model.reproduction.site import FiredFault, Site, SiteFault, SiteKind

SITE = Site("shop.bank", "Bank.pay", "self.socket.send", 0, SiteKind.CALL, "/src/shop/bank.py", 7, 4, 7, 30)


def test_a_site_is_named_by_what_stays_when_lines_move():
    assert str(SITE) == "shop.bank::Bank.pay::self.socket.send"
    assert str(replace(SITE, ordinal=2, line=90)) == "shop.bank::Bank.pay::self.socket.send#2"


def test_a_fault_that_fired_tells_what_to_arm_to_see_it_again():
    fired = FiredFault(SITE, 4, 3, "OSError(28)", "", 2, 0, "MainThread", ())
    assert fired.at_site == SiteFault(4, 3, "OSError(28)")
    assert str(fired) == "OSError(28) at shop.bank::Bank.pay::self.socket.send, occurrence 3"
