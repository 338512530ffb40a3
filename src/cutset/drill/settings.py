"""What a session of drills is to do, as `cutset.yaml` and the command line say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cutset.guards.settings import GuardSettings
from cutset.model.drill import DEFAULT_THRESHOLDS, DrillTest, Thresholds
from cutset.model.expect import Pause, Positive, Rate, Seconds

PORT = "{port}"  # in the command, the environment and the URL: a free port, another one at each start


@dataclass(frozen=True, slots=True)
class ServiceUnderTest:
    command: tuple[str, ...]
    ready_url: str = ""  # ready when this is answered with a status below 500 …
    ready_line: str = ""  # … and when its output has a line with this; if neither is given: when the port is open
    env: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path()
    start_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How long each phase is, in seconds, and how many runs of the flow are sent."""

    startup: Seconds = 3.0
    fault: Seconds = 5.0
    recovery: Seconds = 5.0
    patience: Pause = 10.0  # how much longer a service that has not recovered is watched
    rate: Rate = 20.0  # per second
    parallel: Positive = 8  # at once; further ones are left out, so that a slow service is not buried under them


@dataclass(frozen=True, slots=True)
class Selection:
    top: int = 10  # of the most complex request classes
    services_each: int = 3  # in how many services an endpoint is tested
    seed: int = 0  # decides in which
    faults: tuple[str, ...] = ()  # none: a few for each kind of component
    only: tuple[str, ...] = ()  # points, or beginnings of them, with or without the service that calls


@dataclass(frozen=True, slots=True)
class DrillSettings:
    service: ServiceUnderTest
    pace: Pace = Pace()
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    classes: Mapping[str, Thresholds] = field(default_factory=dict)  # by the name of a flow
    selection: Selection = Selection()
    recording: Path = Path("recording")  # where `cutset record` wrote
    expire_days: float = 7.0  # a test that passed is repeated after so many
    tests_per_start: int = 20
    guards: GuardSettings = field(default_factory=GuardSettings)
    path: Path | None = None  # of the file that says so

    def thresholds_of(self, test: DrillTest) -> Thresholds:
        return self.classes.get(test.flow, self.thresholds)
