import pytest
from tests.samples.small_programs import read_python_log

from cutset.errors import InputError, UsageError
from cutset.reproduce.jvm.log_dialect import JvmLogs
from cutset.reproduce.logs.reading import formats_of, read_log
from cutset.reproduce.python.log_dialect import PythonLogs


@pytest.mark.parametrize(
    ("line", "thread", "logger", "level", "message"),
    [
        ("2026-11-15 19:29:26,843 DEBUG [MainThread] asyncio: Using it", "MainThread", "asyncio", "DEBUG", "Using it"),
        ("2026-11-15T19:29:26.843Z INFO [T-1 (run)] a.b: hi: there", "T-1 (run)", "a.b", "INFO", "hi: there"),
        ("2026-11-15 19:29:26,843 WARN [io] w.Thread(mail): lost", "io", "w.Thread(mail)", "WARNING", "lost"),
        ("INFO:root:hello world", "", "root", "INFO", "hello world"),
        ("WARNING  app.db:test_db.py:51 slow query", "", "app.db", "WARNING", "slow query"),
        ('INFO:     127.0.0.1:5000 - "GET /" 200 OK', "", "", "INFO", '127.0.0.1:5000 - "GET /" 200 OK'),
        ("[2024-01-01 12:00:00 +0000] [1234] [INFO] Booting worker", "1234", "", "INFO", "Booting worker"),
        ("[2024-01-01 12:00:00,123: ERROR/ForkPoolWorker-1] Failed", "ForkPoolWorker-1", "", "ERROR", "Failed"),
        ("2024-01-01 12:00:00,123 - app.db - ERROR - lost: 3", "", "app.db", "ERROR", "lost: 3"),
        ("2024-01-01 12:00:00.123 | INFO     | __main__:main:12 - hello", "", "__main__", "INFO", "hello"),
        ("2024-01-01 12:00:00 [info     ] user is in   [app.auth] user=5", "", "app.auth", "INFO", "user is in user=5"),
        ("2024-01-01 12:00:00 [scrapy.core] INFO: Spider opened", "", "scrapy.core", "INFO", "Spider opened"),
        ("[2024-01-01 12:00:00,123] CRITICAL in app: down", "", "app", "CRITICAL", "down"),
        ("[E 240101 12:00:00 web:2271] 500 GET /", "", "web", "ERROR", "500 GET /"),
        ("Jan  1 12:00:00 host sshd[123]: session opened", "123", "sshd", "", "session opened"),
        ("1700000000.123 INFO app.x: message", "", "app.x", "INFO", "message"),
        ("INFO  [alembic.runtime.migration] Context impl", "", "alembic.runtime.migration", "INFO", "Context impl"),
        ("2024-01-01 12:00:00.123 ERROR (MainThread) [home.loader] gone", "MainThread", "home.loader", "ERROR", "gone"),
        ("2024-01-01 12:00:00.123 1234 INFO nova.compute [r-1] up", "1234", "nova.compute", "INFO", "[r-1] up"),
        ("2024-01-01 12:00:00.123  INFO 17 --- [main] o.s.X : up", "17/main", "o.s.X", "INFO", "up"),
        ("2024-01-01 12:00:00,1 [pool-1] FATAL com.x.Y - out", "pool-1", "com.x.Y", "CRITICAL", "out"),
        ("2021-08-20 01:05:21,542 [myid:] - INFO  [main:Server@47] - No test", "main", "Server@47", "INFO", "No test"),
        (".2022-05-10 16:25:27,880 - INFO  [x [y:1]:Data$Z@9] - go", "x [y:1]", "Data$Z@9", "INFO", "go"),
        ("12:00:00 INFO starting", "", "", "INFO", "starting"),
        ('time=12:00 level=info msg="hello there" logger=shop thread=T-1', "T-1", "shop", "INFO", "hello there"),
        ("event='order placed' level='error' order=7", "", "", "ERROR", "order placed\norder=7"),
        ('[18/Nov/2026 04:11:09] "GET /a HTTP/1.1" 500 145', "", "", "", '"GET /a HTTP/1.1" 500 145'),
        ('127.0.0.1 - - [18/Nov/2026:04:11:09 +0000] "GET / HTTP/1.1" 200 5', "", "", "", '"GET / HTTP/1.1" 200 5'),
        ("[2024-01-01 12:00:00,1: INFO/W-1] add[6b1e9d2c-41aa-4f0b-9d7e-0123456789ab]: up", "W-1", "", "INFO", "up"),
        ("[2024-01-01 12:00:00,1: INFO/W-1] Task add[6b1e] received", "W-1", "", "INFO", "Task add[6b1e] received"),
        ("\x1b[32m2024-01-01 12:00:00\x1b[0m \x1b[1mINFO\x1b[0m [T] a: b", "T", "a", "INFO", "b"),
        ("Loading model...", "", "", "", "Loading model..."),
    ],
)  # fmt: skip
def test_a_line_of_a_common_format_is_read_into_its_fields(line, thread, logger, level, message):
    (record,) = read_python_log(line)
    assert (record.thread, record.logger, record.level, record.message) == (thread, logger, level, message)


@pytest.mark.parametrize(
    ("line", "thread", "logger", "level", "message"),
    [
        (
            "2021-01-01 12:00:00,123 [io-1] INFO  d.Node (Node.java:run(12)) - up: 1",
            "io-1",
            "d.Node (Node.java:run(12))",
            "INFO",
            "up: 1",
        ),
        (
            "2021-01-01 12:00:00,123 INFO  d.Node (Node.java:<init>(12)) - up",
            "",
            "d.Node (Node.java:<init>(12))",
            "INFO",
            "up",
        ),
        (
            "2021-01-01 12:00:00,123 WARN [io-1] d.Node (Node.java:run(12)) - up",
            "io-1",
            "d.Node (Node.java:run(12))",
            "WARNING",
            "up",
        ),
        (
            "2021-01-01 12:00:00,123 (sink-1-0) [WARN - org.flow.Sink$Run.<init>(Sink.java:12)] up: 1",
            "sink-1-0",
            "org.flow.Sink$Run.<init>(Sink.java:12)",
            "WARNING",
            "up: 1",
        ),
        (
            "2021-01-01 12:00:00.123 [client[3b6ddd1d]-io-3] DEBUG o.a.Channel - up[1]",
            "client[3b6ddd1d]-io-3",
            "o.a.Channel",
            "DEBUG",
            "up[1]",
        ),
        ("2021-01-01 12:00:00,123 INFO org.hadoop.Node: up", "", "org.hadoop.Node", "INFO", "up"),
        (
            "2021-01-01 12:00:00,000 INFO  [RS:0;host:34713] hbase.Server(1013): up",
            "RS:0;host:34713",
            "hbase.Server(1013)",
            "INFO",
            "up",
        ),
        (
            "2021-01-01 12:00:00,123 [myid:1] - INFO  [q[myid=1](a=:1):o.a.z.Leader@14] - up",
            "q[myid=1](a=:1)",
            "o.a.z.Leader@14",
            "INFO",
            "up",
        ),
        (
            "[2021-01-01 12:00:00,123] INFO [Broker id=1] up: 3 (kafka.server.Broker)",
            "",
            "kafka.server.Broker",
            "INFO",
            "[Broker id=1] up: 3",
        ),
        ("[2021-01-01 12:00:00,123] WARN gone (org.kafka.Client:763)", "", "org.kafka.Client:763", "WARNING", "gone"),
        ("INFO  [main] 2021-01-01 12:00:00,123 Daemon.java:500 - up", "main", "Daemon.java:500", "INFO", "up"),
        (
            "2023-01-01T12:00:00.123+01:00  INFO 17 --- [shop] [       main] o.s.Web  : up",
            "17/main",
            "o.s.Web",
            "INFO",
            "up",
        ),
        ("12:00:00.123 [main] ERROR org.foo.Bar - up", "main", "org.foo.Bar", "ERROR", "up"),
        ("12:00:00.123 [main] DEBUG o.f.Bar -- up", "main", "o.f.Bar", "DEBUG", "up"),
        ("12:00:00.123 [main:org.foo.Bar@12] INFO  org.foo.Bar - up", "main", "org.foo.Bar", "INFO", "up"),
        ("[main] INFO org.foo.Bar - up", "main", "org.foo.Bar", "INFO", "up"),
        ("17   [main] INFO  org.foo.Bar  - up", "main", "org.foo.Bar", "INFO", "up"),
        ("2021-01-01 12:00:00:000 +0100 [main] INFO org.foo.Bar - up", "main", "org.foo.Bar", "INFO", "up"),
        ("[2021-01-01T12:00:00,123][INFO ][o.e.Node    ] [node-1] up", "", "o.e.Node", "INFO", "[node-1] up"),
        ("2021-01-01 12:00:00,123 INFO  org.flink.Foo     [] - up", "", "org.flink.Foo", "INFO", "up"),
        ("21/01/01 12:00:00 INFO SparkContext: up", "", "SparkContext", "INFO", "up"),
        (
            "18-Nov-2026 12:00:00.123 INFO [main] org.catalina.Catalina.start up",
            "main",
            "org.catalina.Catalina.start",
            "INFO",
            "up",
        ),
        ("INFO  [2021-01-01 12:00:00,123] org.foo.Bar: up", "", "org.foo.Bar", "INFO", "up"),
        ("12:00:00,123 INFO  [org.foo.Bar] (main) up", "main", "org.foo.Bar", "INFO", "up"),
        ("2021-01-01 12:00:00,123 | INFO  | up | org.foo.Bar | main", "main", "org.foo.Bar", "INFO", "up"),
        ("2021-01-01 12:00:00,123 INFO org.foo.Bar [main] up", "main", "org.foo.Bar", "INFO", "up"),
        ("2021-01-01 12:00:00.123 [main] INFO  c.e.Foo.bar:12 - up", "main", "c.e.Foo.bar:12", "INFO", "up"),
        ("Nov 18, 2026 1:02:03 PM shop.Shop open\nSEVERE: up", "", "shop.Shop", "ERROR", "up"),
    ],
)
def test_a_line_of_a_layout_of_the_jvm_is_read_into_its_fields(line, thread, logger, level, message):
    (record,) = read_log(line, formats_of(line, dialect=JvmLogs()), dialect=JvmLogs())
    assert (record.thread, record.logger, record.level, record.message) == (thread, logger, level, message)


def test_a_log_with_two_formats_is_read_by_both():
    log = ["2024-01-01 12:00:00 INFO [T] app: one"] * 9 + ["INFO:     Application startup complete."]
    records = read_python_log(log)
    assert [record.logger for record in records] == ["app"] * 9 + [""]
    assert records[-1].message == "Application startup complete."


def test_words_before_a_colon_are_no_loggers_where_most_messages_have_none():
    log = [
        "12:00:01 INFO started",
        "12:00:02 INFO listening on 80",
        "12:00:03 INFO worker: up",
        "12:00:04 INFO stopped",
    ]
    assert {record.logger for record in read_python_log(log)} == {""}


def test_a_strict_format_is_read_though_longer_messages_end_on_another_line():
    lines = ["[2026-01-01 00:00:01,000] INFO up (org.shop.Server:7)"] * 7
    lines += ["[2026-01-01 00:00:02,000] INFO Config values: ", "\tsize = 3", " (org.shop.Config:9)"] * 3
    records = read_log(lines, formats_of(lines, dialect=PythonLogs()), dialect=PythonLogs())
    assert [record.logger for record in records] == ["org.shop.Server:7"] * 7 + [""] * 3
    assert records[0].message == "up"


def test_a_pattern_of_the_user_names_the_fields():
    records = read_python_log("<7> cart | boom\n<3> shop | late", r"<\d> (?P<logger>\w+) \| (?P<message>.*)")
    assert [(record.logger, record.message) for record in records] == [("cart", "boom"), ("shop", "late")]


def test_a_pattern_of_the_user_may_start_with_blanks():
    records = read_python_log("   INFO up\nWARNING low\n", r" *(?P<level>[A-Z]+) (?P<message>.*)")
    assert [(record.level, record.message) for record in records] == [("INFO", "up"), ("WARNING", "low")]


def test_a_pattern_that_cannot_work_is_refused_with_the_reason():
    with pytest.raises(UsageError, match="no regular expression"):
        read_python_log("x", "(")
    with pytest.raises(UsageError, match="no group named `message`"):
        read_python_log("x", r"(?P<level>\w+)")
    with pytest.raises(InputError, match="none of 2 lines; the first is 'x'"):
        read_python_log("x\ny", r"\d(?P<message>.*)")


def read_together(*logs):
    formats = formats_of(*logs, dialect=PythonLogs())
    return [[(each.level, each.message) for each in read_log(log, formats, dialect=PythonLogs())] for log in logs]


def test_the_same_line_is_read_alike_in_all_logs_of_a_case():
    started, stopped, noise = "12:00:01 INFO started", "12:00:02 ERROR stopped", "12:00:03 listening"
    failure, good = [started, stopped, noise, noise, noise], [started] * 9 + [noise]

    first, second = read_together(failure, good)
    assert first[0] == second[0] == ("INFO", "started")
    assert first[2] == second[-1]


def test_strict_formats_are_accepted_together_where_none_of_them_explains_most():
    log = ["2024-01-01 12:00:00 INFO [T] app: one", "INFO:     two", "[2024-01-01 12:00:00,123: INFO/W-1] three"] * 3
    ((one, two, three, *_),) = read_together(log)
    assert [one, two, three] == [("INFO", "one"), ("INFO", "two"), ("INFO", "three")]


def test_a_loose_format_is_for_logs_that_all_have_it():
    loose = ["INFO one", "INFO two", "ERROR three"]
    assert read_together(loose, loose)[1] == [("INFO", "one"), ("INFO", "two"), ("ERROR", "three")]
    other = ["12:00:00 got it", "12:00:01 done", "12:00:02 bye"]
    assert read_together(loose, other)[0] == [("", line) for line in loose]


@pytest.mark.parametrize(
    ("level", "usual"),
    [("CRIT", "CRITICAL"), ("ERRO", "ERROR"), ("DEBG", "DEBUG"), ("EMERG", "CRITICAL"), ("VERBOSE", "TRACE")],
)
def test_levels_have_other_names_elsewhere(level, usual):
    assert read_together([f"2024-01-01 12:00:00,123 {level} spawned"]) == [[(usual, "spawned")]]


def test_a_level_of_the_programs_own_stands_where_others_do():
    log = ["2024-01-01 12:00:00 INFO [T] app: one"] * 3 + ["2024-01-01 12:00:00 AUDIT [T] app: two"]
    log += ["2024-01-01 12:00:00 Level 25 [T] app: three", "printed"]
    (records,) = read_together(log)
    assert records[3:] == [("AUDIT", "two"), ("LEVEL 25", "three"), ("", "printed")]


def test_a_number_at_the_end_is_no_logger():
    lines = ["INFO:     Started server process [25884]", "INFO:     Application startup complete."]
    assert next((record.logger, record.message) for record in read_python_log(lines)) == (
        "",
        "Started server process [25884]",
    )
