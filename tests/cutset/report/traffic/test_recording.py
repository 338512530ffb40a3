from collections import Counter
from pathlib import Path

from cutset.model.exchange import Exchange
from cutset.report.traffic.recording import har_lines, loss_lines, tap_lines
from cutset.workload.recording.folder import Recorded
from cutset.workload.recording.har import Har
from cutset.workload.recording.tap import Taps


def exchange(number: int, service: str = "web", status: int = 200) -> Exchange:
    return Exchange(str(number), service, "trace", float(number), 0.0, "GET", "/", (), b"", status)


def test_what_a_har_file_had_besides_is_told() -> None:
    assert list(har_lines(Har((), "shop", Counter({"cdn": 2, "ads": 1}), 1))) == [
        "Left out 3 entries of hosts other than `shop`: cdn (2), ads (1)",
        "Left out 1 entry without an answer",
    ]
    assert list(har_lines(Har((), "shop"))) == []


def test_secrets_that_stay_behind_are_told() -> None:
    left_out, secrets = tap_lines(Taps((), 1), Path("taps"))
    assert left_out == "Left out 1 file that is no whole tap"
    assert secrets.startswith("`taps` still holds the requests with their secrets")


def test_what_of_a_recording_is_not_used_is_told_with_the_reason() -> None:
    exchanges = (exchange(1), exchange(2, "cart"), exchange(3, status=0))
    assert list(loss_lines(Recorded(exchanges, damaged=2, torn=1))) == [
        "1 exchange between services left out",
        "1 exchange left out: recorded without an answer",
        "[yellow]warning:[/] 2 parts of the recording could not be read",
        "1 batch was being written when the recorder died, and is not there",
    ]
    assert list(loss_lines(Recorded((exchange(1),)))) == []
