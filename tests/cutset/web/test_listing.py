from pathlib import Path

from tests.samples.opened_dashboard import opened_dashboard
from tests.samples.recorded_runs import record_drills

from cutset.model.run import Loop
from cutset.store.ledger import open_ledger
from cutset.store.runs import held_run
from cutset.web.dashboard import Dashboard
from cutset.web.listing import back_to, run_part, stage_of


def test_a_run_is_finished_under_way_in_some_process_or_left_unfinished(tmp_path: Path) -> None:
    record_drills(tmp_path, "done")
    record_drills(tmp_path, "open", finished=False)

    with opened_dashboard(tmp_path) as (dashboard, client):
        assert client.portal
        with open_ledger(tmp_path) as ledger, held_run(ledger, "open"):
            assert client.portal.call(_states, dashboard) == {"done": "finished", "open": "under way"}
        assert client.portal.call(_states, dashboard) == {"done": "finished", "open": "unfinished"}
        shown = client.portal.call(_part, dashboard)

    assert shown == '<div id="run">told</div>'
    assert str(back_to("/drills", "Drills")) == '<nav aria-label="Up"><a href="/drills">← Drills</a></nav>'


def _states(dashboard: Dashboard) -> dict[str, str]:
    return {run.id: stage_of(dashboard, run) for run in dashboard.reading.runs(Loop.DRILL)}


def _part(dashboard: Dashboard) -> str:
    return str(run_part(dashboard, dashboard.reading.run(Loop.DRILL, "open"), "told"))
