from pathlib import Path

import pytest
from tests.samples.jars import class_folder, jar

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.jvm.proposals import proposed_sources


def record(logger: str, *trace: str) -> LogRecord:
    return LogRecord(1, "", logger, "ERROR", "it failed", trace)


@pytest.fixture
def entries(tmp_path: Path) -> list[str]:
    return [
        class_folder(tmp_path / "work", "Workload"),
        jar(tmp_path / "zookeeper.jar", "org.apache.zookeeper.server.Leader", "org.apache.zookeeper.ZooKeeper"),
        jar(tmp_path / "netty.jar", "io.netty.channel.Channel"),
        class_folder(tmp_path / "classes", "org.shop.Queue"),
    ]


@pytest.mark.parametrize("logger", ["org.apache.zookeeper.server.Leader", "o.a.z.s.Leader", "Leader", "server.Leader"])
def test_a_jar_is_in_question_if_the_log_names_its_classes(entries: list[str], logger: str) -> None:
    (found,) = proposed_sources([record(logger), record(logger), record("other.Leader")], (), ("Workload",), entries)

    assert (found.name, found.why) == (entries[1], "the failure log names its classes in 2 entries")


@pytest.mark.parametrize(
    ("logger", "jars"),
    [
        ("org.apache.zookeeper.server", [1]),
        ("org.apache.zookeeper.ZooKeeper.lambda$close$0(ZooKeeper.java:12)", [1]),
        ("io.netty", []),
        ("", []),
    ],
)
def test_loggers_may_be_named_like_packages_or_say_the_place(entries: list[str], logger: str, jars: list[int]) -> None:
    found = proposed_sources([record(logger)], (), ("Workload",), entries)

    assert [each.name for each in found] == [entries[at] for at in jars]


def test_a_class_of_the_very_name_counts_before_one_that_it_is_short_for(entries: list[str], tmp_path: Path) -> None:
    folder = class_folder(tmp_path / "project", "classes.Workload", "org.Workload")  # as where the class path has `.`

    assert [each.name for each in proposed_sources([record("Workload")], (), (), [folder, *entries])] == [entries[0]]


def test_frames_of_stack_traces_name_classes_too(entries: list[str]) -> None:
    trace = (
        "java.io.IOException: full",
        "\tat java.base/java.io.File.open(File.java:1)",
        "\tat app//io.netty.channel.Channel.<init>(Channel.java:2)",
        "\tat org.shop.Queue.lambda$put$0(Queue.java)",
        "\tat Workload.main(Workload.java:3)",
    )

    found = proposed_sources([record("", *trace)], (), ("Workload",), entries)

    assert [each.name for each in found] == [entries[3], entries[2], entries[0]]  # own classes, jars, the workload


def test_a_log_that_names_no_class_proposes_nothing(entries: list[str]) -> None:
    assert proposed_sources([record("root"), record("")], (), ("Workload",), entries) == []
