from pathlib import Path

from tests.samples.campaign_under_way import campaign_under_way, record
from tests.samples.hostile import HOSTILE, text_of
from tests.samples.opened_dashboard import opened_dashboard

from cutset.store.active import ActiveInjection, injecting
from cutset.web.dashboard import Dashboard
from cutset.web.running import look_at_runs, state_of


def states(dashboard: Dashboard) -> dict[str, tuple[bool, bool]]:
    found = {run.id: state_of(dashboard, run) for run in dashboard.reading.runs()}
    return {run: (state.finished, state.under_way) for run, state in found.items()}


def test_a_run_is_under_way_as_long_as_its_process_says_so(tmp_path: Path) -> None:
    record(tmp_path, "done", [])
    with opened_dashboard(tmp_path) as (dashboard, client):
        assert client.portal
        with campaign_under_way(tmp_path, "now"):
            assert client.portal.call(states, dashboard) == {"done": (False, False), "now": (False, True)}
        assert client.portal.call(states, dashboard) == {"done": (False, False), "now": (False, False)}


def test_what_others_run_is_told_with_who_and_where_to_watch_it(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path) as (dashboard, client), campaign_under_way(tmp_path, "now"):
        assert client.portal
        look = client.portal.call(look_at_runs, dashboard, dict)

        assert "A campaign is under way , of somebody@host, process 4711" in text_of(look.parts["now"])
        assert 'href="/campaigns/now"' in look.parts["now"]
        assert (look.status, look.ended) == ("a campaign is under way", False)


def test_where_nothing_runs_the_page_may_rest(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path) as (dashboard, client):
        assert client.portal
        look = client.portal.call(look_at_runs, dashboard, lambda: {"rest": "x"})

        assert (look.status, look.ended, look.parts["rest"]) == ("nothing runs", True, "<div>x</div>")


def test_what_an_active_run_says_stays_text(tmp_path: Path) -> None:
    active = ActiveInjection("evil", HOSTILE, "test", HOSTILE, 1, 0.0, HOSTILE)
    with opened_dashboard(tmp_path) as (dashboard, client), injecting(tmp_path, active):
        assert client.portal
        assert "<script>alert(1)" in text_of(client.portal.call(look_at_runs, dashboard, dict).parts["now"])
