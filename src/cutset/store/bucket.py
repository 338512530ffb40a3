"""Files of the span store in an object store: `s3://bucket/prefix`, of AWS or whatever speaks its protocol.

They are put there whole, and never change but for the manifest. To replace that takes the version that was read: of two
who write at the same time, wherever they are, one is told. Nobody holds a lock that could outlive him. So files that no
manifest lists may be those of an ingest under way, or somebody may still read them: they stay for a day.

Credentials, region and endpoint come from where all tools look for them: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
`AWS_REGION`, `AWS_ENDPOINT_URL`, or `~/.aws`. By s3fs, an extra, through which DuckDB reads, too: an extension of its
own would be downloaded when it is first used.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
from botocore.exceptions import BotoCoreError
from fsspec import AbstractFileSystem
from fsspec.asyn import sync
from s3fs import S3FileSystem

from cutset.errors import TargetError

UNLISTED_STAY = timedelta(days=1)
_HELD_BYTES = 256_000_000  # of files that were read last: one range of traces is read several times over
_CHANGED_MEANWHILE = (409, 412)  # statuses of answers


def exists(address: str) -> bool:
    with _clear_errors():
        return bool(_bucket().exists(address))


def read(address: str) -> tuple[bytes, str]:
    """The content, and its version. Raises FileNotFoundError."""
    bucket = _bucket()
    holder, key, _ = bucket.split_path(address)

    async def get() -> tuple[bytes, str]:
        found = await bucket._call_s3("get_object", Bucket=holder, Key=key)  # noqa: SLF001 -- as its own methods do
        return await found["Body"].read(), found["ETag"]

    with _clear_errors():
        content, version = sync(bucket.loop, get)
    return content, version


def write(address: str, content: bytes) -> None:
    with _clear_errors():
        _bucket().pipe_file(address, content)


def replace(address: str, content: bytes, version: str) -> str:
    """If it still has that version; with "", if there is none. Returns the new version."""
    bucket = _bucket()
    holder, key, _ = bucket.split_path(address)
    condition = {"IfMatch": version} if version else {"IfNoneMatch": "*"}
    with _clear_errors():
        try:
            written = bucket.call_s3("put_object", Bucket=holder, Key=key, Body=content, **condition)
        except OSError as error:
            answer = getattr(error.__cause__, "response", {})
            if answer.get("ResponseMetadata", {}).get("HTTPStatusCode") not in _CHANGED_MEANWHILE:
                raise
            raise TargetError(
                f"Somebody else wrote to the traces at `{address.rpartition('/')[0]}` meanwhile",
                hint="Do it again, one at a time: what is stored is kept, and not stored twice",
            ) from error
    return str(written["ETag"])


def put(file: Path, address: str) -> None:
    with _clear_errors():
        _bucket().put_file(str(file), address)


def listed(address: str, pattern: str) -> dict[str, datetime]:
    """The names of files, as far as they match, with when they were written."""
    start = address.removeprefix("s3://") + "/"
    with _clear_errors():
        found = _bucket().find(address, detail=True)
    names = {path.removeprefix(start): facts["LastModified"] for path, facts in found.items()}
    return {name: written for name, written in names.items() if fnmatchcase(name, pattern)}


def remove(address: str, names: Sequence[str]) -> None:
    with _clear_errors():
        if names:
            _bucket().rm([f"{address}/{name}" for name in names])


def is_left_over(written: datetime) -> bool:
    return datetime.now(UTC) - written > UNLISTED_STAY


def make_readable(database: duckdb.DuckDBPyConnection) -> None:
    database.register_filesystem(_HeldFiles(skip_instance_cache=True))


def _bucket() -> Any:
    return S3FileSystem(use_listings_cache=False)  # the same one again, as long as the process is the same


class _HeldFiles(AbstractFileSystem):  # type: ignore[misc]  # it has no types
    """What DuckDB reads parts from: each is fetched once and whole, as most of it is needed."""

    protocol = "s3"

    def info(self, path: str, **_: object) -> dict[str, object]:
        return {"name": path, "size": len(_held(path)), "type": "file"}

    def modified(self, path: str) -> datetime:  # noqa: ARG002
        return datetime(1970, 1, 1, tzinfo=UTC)  # and never since

    def _open(self, path: str, *_: object, **__: object) -> BytesIO:
        return BytesIO(_held(path))


_contents: OrderedDict[str, bytes] = OrderedDict()
_access = threading.Lock()


def _held(path: str) -> bytes:
    with _access:
        if path not in _contents:
            with _clear_errors():
                _contents[path] = _bucket().cat_file(path)
            while len(_contents) > 1 and sum(map(len, _contents.values())) > _HELD_BYTES:
                _contents.popitem(last=False)
        _contents.move_to_end(path)
        return _contents[path]


@contextmanager
def _clear_errors() -> Iterator[None]:
    """What is wrong with the network or with credentials is no OSError by itself."""
    try:
        yield
    except BotoCoreError as error:
        raise OSError(str(error)) from error
