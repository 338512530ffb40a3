"""What really happens at calls of the JDK: which exceptions, with which words, and where something is waited for.

Declared types are the truth about what can be thrown, but coarse: `IOException` at a socket is a reset, a broken pipe
or a time-out, at a file it is a full disk. The declared type itself comes first, as all handlers for it take it.
"""

from collections.abc import Mapping, Sequence

Failure = tuple[str, str]  # the type of an exception, and what it says; "": nothing

IO = "java.io.IOException"
_FILES = (
    *("java.io.File", "java.io.RandomAccessFile", "java.nio.channels.FileChannel", "java.nio.file."),
    *("java.nio.channels.AsynchronousFileChannel", "java.nio.channels.FileLock", "java.util.zip.", "java.util.jar."),
)
_NETWORK = (
    *("java.net.", "javax.net.", "java.nio.channels.Socket", "java.nio.channels.ServerSocket", "java.rmi."),
    *("java.nio.channels.Datagram", "java.nio.channels.Selector", "java.nio.channels.AsynchronousS", "javax.security."),
)
_OPENING = (
    "<init>",
    "open",
    "newInputStream",
    "newOutputStream",
    "newByteChannel",
    "newBufferedReader",
    "createNewFile",
)
_WRITING = ("write", "append", "flush", "force", "sync", "setLength", "truncate", "transfer", "copy", "move", "print")
_READING = ("read", "receive", "skip", "available", "load", "lines", "size", "length", "get")
_AT_FILES: Mapping[Sequence[str], Sequence[Failure]] = {
    _OPENING: [(IO, "Too many open files"), ("java.io.FileNotFoundException", "(No such file or directory)")],
    _WRITING: [(IO, "No space left on device")],
    _READING: [(IO, "Input/output error"), ("java.io.EOFException", "")],
}
_AT_NETWORK: Mapping[Sequence[str], Sequence[Failure]] = {
    ("connect", "<init>", "open", "createSocket"): [
        ("java.net.ConnectException", "Connection refused"),
        ("java.net.SocketTimeoutException", "connect timed out"),
    ],
    ("bind",): [("java.net.BindException", "Address already in use")],
    ("accept",): [(IO, "Too many open files"), ("java.net.SocketTimeoutException", "Accept timed out")],
    _WRITING: [("java.net.SocketException", "Broken pipe"), (IO, "Connection reset by peer")],
    (*_READING, "select"): [
        ("java.net.SocketException", "Connection reset"),
        ("java.net.SocketTimeoutException", "Read timed out"),
    ],
    ("getByName", "getAllByName", "getLocalHost"): [("java.net.UnknownHostException", "unknown host")],
}
_AT_STREAMS: Mapping[Sequence[str], Sequence[Failure]] = {
    _WRITING: [(IO, "No space left on device"), ("java.net.SocketException", "Broken pipe")],
    _READING: [
        (IO, "Connection reset by peer"),
        ("java.io.EOFException", ""),
        ("java.net.SocketTimeoutException", "Read timed out"),
    ],
}
# Connections break because something else has failed; no fault of the program makes the operating system say these.
OF_THE_MACHINE = ("No space left on device", "Too many open files", "Input/output error")
_USUAL_WORDS = {
    IO: "Input/output error",
    "java.net.SocketException": "Connection reset",
    "java.net.SocketTimeoutException": "Read timed out",
    "java.net.ConnectException": "Connection refused",
    "java.net.BindException": "Address already in use",
    "java.net.UnknownHostException": "unknown host",
    "java.net.NoRouteToHostException": "No route to host",
    "java.io.FileNotFoundException": "(No such file or directory)",
    "java.sql.SQLException": "Connection reset",
}
_WITHOUT_WORDS = (
    *("java.io.EOFException", "java.lang.InterruptedException", "java.util.concurrent.TimeoutException"),
    *("java.util.concurrent.CancellationException", "java.util.concurrent.BrokenBarrierException"),
    *("java.nio.channels.ClosedChannelException", "java.nio.channels.ClosedByInterruptException"),
)
_CONNECTING = {
    f"java.net.{name}Exception" for name in ("Connect", "NoRouteToHost", "UnknownHost", "Bind", "PortUnreachable")
}
_WORDS_OF_THE_JVM = {  # how they begin, and what is in them
    "java.lang.NullPointerException": ("Cannot ", "because"),
    "java.lang.ClassCastException": ("", "cannot be cast to"),
    "java.lang.ArrayIndexOutOfBoundsException": ("Index ", "out of bounds for length"),
    "java.lang.ArithmeticException": ("/ by zero", ""),
}
# Beyond what the class path tells, as nobody mentions them.
ABOVE = {
    "java.io.EOFException": IO,
    "java.io.FileNotFoundException": IO,
    "java.io.InterruptedIOException": IO,
    "java.net.SocketTimeoutException": "java.io.InterruptedIOException",
    "java.net.SocketException": IO,
    "java.net.ConnectException": "java.net.SocketException",
    "java.net.BindException": "java.net.SocketException",
    "java.net.NoRouteToHostException": "java.net.SocketException",
    "java.net.UnknownHostException": IO,
    IO: "java.lang.Exception",
    "java.lang.RuntimeException": "java.lang.Exception",
    "java.lang.Exception": "java.lang.Throwable",
    "java.lang.Error": "java.lang.Throwable",
}
# The program's own text decides about these, in the same way in each run.
UNLIKELY = {
    *("java.lang.ClassNotFoundException", "java.lang.NoSuchMethodException", "java.lang.NoSuchFieldException"),
    *("java.lang.IllegalAccessException", "java.lang.InstantiationException", "java.lang.CloneNotSupportedException"),
    *("java.lang.reflect.InvocationTargetException", "java.io.UnsupportedEncodingException"),
    *("java.net.URISyntaxException", "java.net.MalformedURLException", "java.security.NoSuchAlgorithmException"),
    *("java.text.ParseException", "javax.management.JMException", "javax.management.MalformedObjectNameException"),
}
# Exceptions that nobody declares, by the calls that throw them.
_UNCHECKED = {
    "java.util.concurrent.RejectedExecutionException": ("execute", "submit", "schedule", "invokeAll"),
    "java.util.concurrent.CancellationException": ("get", "join"),
    "java.util.concurrent.CompletionException": ("join", "getNow"),
    "java.nio.BufferUnderflowException": ("get", "getInt", "getLong", "getShort", "getDouble"),
    "java.nio.BufferOverflowException": ("put", "putInt", "putLong", "putShort", "putDouble"),
    "java.nio.channels.CancelledKeyException": ("interestOps", "readyOps", "isReadable", "isWritable", "isAcceptable"),
    "java.nio.channels.ClosedSelectorException": ("select", "selectNow", "keys", "selectedKeys"),
    "java.lang.NumberFormatException": ("parseInt", "parseLong", "valueOf", "decode", "parseDouble"),
    "java.util.NoSuchElementException": ("next", "nextLine", "nextToken", "getFirst", "remove", "element", "get"),
    "java.io.UncheckedIOException": ("lines", "list", "walk", "find", "forEach", "iterator"),
    "java.lang.OutOfMemoryError": ("start", "allocate", "allocateDirect", "map"),
}
_WAITS = (
    *("lock", "tryLock", "lockInterruptibly", "await", "awaitNanos", "acquire", "tryAcquire", "take", "put", "get"),
    *("join", "sleep", "select", "park", "parkNanos", "waitFor", "invokeAll", "invokeAny", "poll", "offer", "exchange"),
    *("awaitTermination", "arriveAndAwaitAdvance", "transfer"),
)
_UNDECLARED = (  # reach out, and yet declare nothing
    *("exists", "delete", "mkdir", "mkdirs", "renameTo", "length", "list", "listFiles", "isFile", "isDirectory"),
    *("lastModified", "canRead", "canWrite", "isReachable", "getHostName", "getCanonicalHostName", "selectNow"),
)
_WAITING_OWNERS = ("java.util.concurrent.", "java.lang.Thread", "java.lang.Process", "java.util.concurrent.locks.")
_WAITED_FOR = {
    *(IO, "java.lang.InterruptedException", "java.util.concurrent.TimeoutException", "java.sql.SQLException"),
    *("java.util.concurrent.ExecutionException", "java.rmi.RemoteException"),
}


def usual_failures(owner: str, name: str) -> list[Failure]:
    """What may happen at a call, the commonest first; of files and networks, and streams, which may be either."""
    at = _AT_FILES if owner.startswith(_FILES) else _AT_NETWORK if owner.startswith(_NETWORK) else _AT_STREAMS
    return [failure for names, failures in at.items() if name.startswith(tuple(names)) for failure in failures]


def usual_words(kind: str, owner: str, name: str) -> str:
    """Of an exception that the log does not tell more of."""
    said = next((words for each, words in usual_failures(owner, name) if each == kind), "")
    return said or ("" if kind in _WITHOUT_WORDS else _USUAL_WORDS.get(kind, "injected"))


def throws_unchecked(kind: str, owner: str, name: str) -> bool:
    """Whether a call is known to throw it; libraries throw their own."""
    package, declaring = kind.rpartition(".")[0], owner.rpartition(".")[0]
    libraries = not kind.startswith("java.") and package.split(".")[:3] == declaring.split(".")[:3]
    return libraries or name in _UNCHECKED.get(kind, ())


def reaches_out(owner: str, name: str, declared: Sequence[str]) -> bool:
    """Whether something outside of the thread is waited for."""
    if not _WAITED_FOR.isdisjoint(declared):
        return True
    if owner.startswith((*_FILES, *_NETWORK)):
        return bool(declared) or name in _UNDECLARED
    return owner.startswith(_WAITING_OWNERS) and name in _WAITS


def is_of_another_kind(kind: str, owner: str, name: str) -> bool:
    """Though it is declared: an exception of networks at a file or the other way round, one of connecting at what is
    connected already, a time-out of sockets at a channel, which has none."""
    return (
        (kind.startswith(_NETWORK) and owner.startswith(_FILES))
        or (kind.startswith((*_FILES, "java.io.FileNotFound")) and owner.startswith(_NETWORK))
        or (kind in _CONNECTING and name.startswith((*_WRITING, "read", "receive", "select", "close")))
        or (kind == "java.net.SocketTimeoutException" and owner.startswith("java.nio.channels."))
    )


def is_of_the_jvm(kind: str, message: str) -> bool:
    """Whether the JVM itself has thrown an exception, for a value that is wrong: its words tell."""
    begins, holds = _WORDS_OF_THE_JVM.get(kind, ("", "\0"))
    return message.startswith(begins) and holds in message


def wrong_value(owner: str, name: str, returned: str) -> tuple[str, str] | None:
    """By the descriptor of what is returned: the effect, and what it stands for. None if nothing is."""
    if name == "<init>" or returned == "V":
        return None
    if returned in ("I", "J") and name.startswith(_READING):
        return "return(-1)", "nothing is left to read"
    if returned == "Z":
        waited = owner.startswith(_WAITING_OWNERS)
        return "return(false)", "it was not there in time" if waited else "it did not work"
    if returned in ("I", "J", "S", "B", "C", "F", "D"):
        return "return(0)", "nothing of it was done"
    return "return(null)", "nothing comes back"
