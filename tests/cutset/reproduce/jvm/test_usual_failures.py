import pytest

from cutset.reproduce.jvm.usual_failures import (
    IO,
    is_of_another_kind,
    is_of_the_jvm,
    reaches_out,
    throws_unchecked,
    usual_failures,
    usual_words,
    wrong_value,
)


def test_the_same_type_says_another_thing_of_a_disk_and_of_a_network():
    assert usual_words(IO, "java.nio.channels.FileChannel", "force") == "No space left on device"
    assert usual_words(IO, "java.nio.channels.SocketChannel", "write") == "Connection reset by peer"
    assert usual_words("java.lang.InterruptedException", "java.lang.Thread", "sleep") == ""


def test_sockets_fail_in_ways_of_their_own():
    assert ("java.net.SocketTimeoutException", "Read timed out") in usual_failures("java.net.Socket", "read")
    assert ("java.net.ConnectException", "Connection refused") in usual_failures("java.net.Socket", "connect")
    assert usual_failures("java.net.ServerSocket", "bind") == [("java.net.BindException", "Address already in use")]


def test_what_is_not_declared_is_thrown_by_calls_that_are_known_for_it():
    rejected = "java.util.concurrent.RejectedExecutionException"
    assert throws_unchecked(rejected, "java.util.concurrent.Executor", "execute")
    assert not throws_unchecked(rejected, "java.util.concurrent.Executor", "toString")
    assert throws_unchecked("com.google.protobuf.FooException", "com.google.protobuf.Parser", "parse")
    assert not throws_unchecked("java.lang.NullPointerException", "java.util.Date", "getTime")


@pytest.mark.parametrize(
    ("owner", "name", "declared"),
    [
        ("java.net.Socket", "close", [IO]),
        ("java.io.File", "delete", []),
        ("java.util.concurrent.locks.Lock", "lock", []),
        ("com.db.Client", "ask", ["java.sql.SQLException"]),
    ],
)
def test_calls_that_wait_for_something_reach_out(owner, name, declared):
    assert reaches_out(owner, name, declared)


def test_others_do_not():
    assert not reaches_out("java.util.concurrent.atomic.AtomicLong", "incrementAndGet", [])
    assert not reaches_out("com.google.common.base.Joiner", "join", [])
    assert not reaches_out("java.net.InetSocketAddress", "getPort", [])


@pytest.mark.parametrize(
    ("name", "returned", "effect"),
    [
        ("read", "I", "return(-1)"),
        ("delete", "Z", "return(false)"),
        ("write", "I", "return(0)"),
        ("readLine", "Ljava/lang/String;", "return(null)"),
    ],
)
def test_a_wrong_value_is_of_the_type_that_is_returned(name, returned, effect):
    value = wrong_value("java.io.File", name, returned)
    assert value is not None
    assert value[0] == effect


def test_where_nothing_is_returned_nothing_can_be_wrong():
    assert wrong_value("java.io.FileInputStream", "<init>", "V") is None
    assert wrong_value("java.net.Socket", "close", "V") is None


def test_a_file_is_no_network():
    assert is_of_another_kind("java.net.SocketException", "java.io.FileOutputStream", "write")
    assert is_of_another_kind("java.io.FileNotFoundException", "java.net.Socket", "connect")
    assert not is_of_another_kind("java.net.SocketException", "java.io.OutputStream", "write")
    assert not is_of_another_kind(IO, "java.io.FileOutputStream", "write")


def test_what_is_connected_does_not_refuse_connections_and_channels_have_no_time_outs():
    assert is_of_another_kind("java.net.ConnectException", "java.io.InputStream", "read")
    assert not is_of_another_kind("java.net.ConnectException", "java.net.URLConnection", "getInputStream")
    assert not is_of_another_kind("java.net.ConnectException", "java.nio.channels.SocketChannel", "finishConnect")
    assert is_of_another_kind("java.net.SocketTimeoutException", "java.nio.channels.SocketChannel", "read")
    assert not is_of_another_kind("java.net.SocketTimeoutException", "java.io.InputStream", "read")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("NullPointerException", 'Cannot invoke "java.io.File.length()" because "file" is null'),
        ("ClassCastException", "class a.B cannot be cast to class c.D (a.B and c.D are in loader 'app')"),
        ("ArrayIndexOutOfBoundsException", "Index 3 out of bounds for length 3"),
        ("ArithmeticException", "/ by zero"),
    ],
)
def test_what_the_jvm_itself_throws_is_told_by_its_words(kind, message):
    assert is_of_the_jvm(f"java.lang.{kind}", message)
    assert not is_of_the_jvm(f"java.lang.{kind}", "no such order")
    assert not is_of_the_jvm(f"java.lang.{kind}", "")
    assert not is_of_the_jvm(IO, message)
