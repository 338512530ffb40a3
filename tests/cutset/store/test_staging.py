import pickle
from pathlib import Path

from tests.samples.stored_spans import HOUR, NOON, many, span

from cutset.store.staging import stage_spans


def test_what_workers_return_can_be_sent_between_processes(tmp_path):
    staged = stage_spans(tmp_path, many(8))
    assert pickle.loads(pickle.dumps(staged)) == staged


def test_what_is_of_one_hour_is_told(tmp_path: Path) -> None:
    one, two = stage_spans(tmp_path, many(8)), stage_spans(tmp_path, [span(), span(start_ns=NOON + HOUR)])
    assert (one.spans, one.of_one_hour) == (8, True)
    assert (two.spans, two.of_one_hour) == (2, False)
    assert Path(one.file).parent == tmp_path
