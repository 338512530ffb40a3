from xml.etree import ElementTree as ET

from tests.samples.drill import FAILED, PASSED

from cutset.model.drill import Phase
from cutset.report.drill.timeline import draw_timeline, phase_spans


def test_the_picture_shades_the_fault_and_marks_what_it_hit() -> None:
    picture = ET.fromstring(draw_timeline(FAILED.timeline, title="a <b>"))

    kinds = [element.get("class") for element in picture.iter()]
    assert kinds.count("window") == 1
    assert kinds.count("fired") == 100
    assert kinds.count("dot") == 60
    assert kinds.count("cross") == 200
    assert next(picture.iter("{http://www.w3.org/2000/svg}title")).text == "a <b>"


def test_phases_follow_each_other_without_a_gap() -> None:
    spans = phase_spans(PASSED.timeline, 13.0)

    assert [phase for phase, _, _ in spans] == list(Phase)
    assert [finish for _, _, finish in spans] == [3.0, 8.0, 13.0]


def test_a_drill_that_ended_after_start_up_can_be_drawn() -> None:
    picture = ET.fromstring(draw_timeline(PASSED.timeline[:10], title="x"))

    assert [element.get("class") for element in picture.iter()].count("dot") == 10
