from tests.samples.campaign import EVENTS, RUN

from cutset.model.campaign import campaign_of
from cutset.model.summary import summarise


def test_a_campaign_is_what_its_events_come_to() -> None:
    campaign = campaign_of([RUN, *EVENTS])

    assert campaign.id == RUN.run
    assert campaign.started == RUN
    assert campaign.summary == summarise(EVENTS)
    assert campaign.findings == campaign.summary.findings
    assert campaign.complete == campaign.summary.complete
