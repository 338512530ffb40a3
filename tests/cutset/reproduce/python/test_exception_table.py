import pytest

from cutset.reproduce.python.exception_table import called, table, words_of


def test_every_pattern_of_the_table_belongs_to_a_rule_with_faults():
    assert [rule.what for rule in table().rules if not rule.faults] == ["closing an asynchronous stream"]
    assert {fault for rule in table().rules for fault in rule.faults} >= set(table().faults.values())


def test_method_names_are_either_telling_or_ambiguous_in_a_rule():
    for rule in table().rules:
        assert rule.methods.isdisjoint(rule.ambiguous), rule.what
        assert rule.methods.isdisjoint(table().harmless_methods), rule.what


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ConnectTimeout", ["connect", "timeout"]),
        ("SSLHandshakeError", ["ssl", "handshake", "error"]),
        ("_server_socket", ["server", "socket"]),
        ("AMQPConnectionError", ["amqp", "connection", "error"]),
    ],
)
def test_names_are_split_into_words(name, words):
    assert words_of(name) == words


def test_a_resolved_name_decides_alone():
    told = called("x.read", "socket.socket.recv", [], awaited=False)
    assert [rule.what for rule, _ in told.rules] == ["reading from a connection"]
    assert told.standard


def test_patterns_of_the_table_prefer_the_special_rule():
    assert called("", "os.getcwd", [], awaited=False).rules[0][0].what == "looking at files"
    assert called("", "base64.b64decode", [], awaited=False).rules[0][0].what == "decoding text"
    assert not called("", "base64.b64encode", [], awaited=False).reaches_out


def test_to_name_a_file_is_not_to_use_it():
    assert not called("Path", "pathlib.Path", ["pathlib"], awaited=False).reaches_out
    assert called("Path(name).open", "pathlib.Path.open", ["pathlib"], awaited=False).reaches_out


def test_the_receiver_s_name_ranks_the_rules_of_an_ambiguous_method():
    assert called("self._sock.read", "", [], awaited=False).rules[0][0].what == "reading from a connection"
    assert called("self._file.read", "", [], awaited=False).rules[0][0].what == "reading from a file"
    assert called("response.read", "", [], awaited=False).rules[0][0].what == "reading an HTTP answer"


def test_asynchronous_rules_are_for_awaited_calls():
    assert called("self.reader.readline", "", [], awaited=True).rules[0][0].asynchronous
    assert not any(rule.asynchronous for rule, _ in called("stuff.readline", "", [], awaited=False).rules)
    assert called("writer.write", "", [], awaited=False).rules[0][0].asynchronous  # not awaited, but of a writer


def test_modules_stand_for_calls_that_tell_nothing():
    assert called("handler", "", [], awaited=False).rules == ()
    assert [rule.what for rule, _ in called("handler", "", ["sqlite3"], awaited=False).rules] == ["using a database"]


def test_what_is_no_call_at_all_is_no_trouble():
    for text in ("", "(", "await x", "lambda: 0", "f()()"):
        assert called(text, "", [], awaited=False).reaches_out


def test_methods_of_what_a_function_of_the_standard_library_returns_are_found_by_name():
    told = called("s.recv", "socket.create_connection.recv", [], awaited=False)
    assert told.rules[0][0].what == "reading from a connection"
    assert called("x.write", "open.write", [], awaited=False).rules[0][0].what == "writing to a file"
    for resolved in ("io.BytesIO.write", "threading.Event.wait", "queue.Queue.get", "re.compile.match", "str.strip"):
        name = resolved.rpartition(".")[2]
        assert not called(f"x.{name}", resolved, [], awaited=False).reaches_out, resolved


def test_a_class_of_the_standard_library_that_the_table_lacks_does_not_leave_the_process():
    assert not called("Path", "pathlib.Path", ["pathlib"], awaited=False).reaches_out
    assert called("Path('x').write_text", "pathlib.Path.write_text", ["pathlib"], awaited=False).reaches_out
