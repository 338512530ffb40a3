"""A nightly job: opens the database of each tenant in turn, bills what is open, and ends. A tenant that fails is left for the next night."""
import asyncio
import logging
import sqlite3
import subprocess
import sys
from pathlib import Path

TENANTS = 16
log = logging.getLogger("billing")


async def bill(tenant: str) -> int:
    import aiosqlite

    async with aiosqlite.connect(f"tenants/{tenant}.db") as db:
        async with db.execute("SELECT id, amount FROM items WHERE billed = 0") as cursor:
            items = [row async for row in cursor]
        for item, _ in items:
            await db.execute("UPDATE items SET billed = 1 WHERE id = ?", (item,))
        await db.commit()
    return sum(amount for _, amount in items)


async def night() -> None:
    failed = 0
    for number in range(TENANTS):
        try:
            total = await bill(f"t{number:02}")
            log.info("tenant=t%02d total=%d", number, total)
        except sqlite3.Error as error:
            failed += 1
            log.warning('tenant=t%02d left="%s"', number, error)
    log.info("done tenants=%d failed=%d", TENANTS - failed, failed)


def job() -> None:
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr,
        format='ts=%(asctime)s level=%(levelname)s logger=%(name)s thread=%(threadName)s %(message)s',
    )
    asyncio.run(night())


def main() -> None:
    import wl

    Path("tenants").mkdir()
    for number in range(TENANTS):
        db = sqlite3.connect(f"tenants/t{number:02}.db")
        db.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, amount INTEGER, billed INTEGER)")
        db.executemany("INSERT INTO items (amount, billed) VALUES (?, ?)", [(7 * n + number, n % 2) for n in range(4)])
        db.commit()
        db.close()
    process = subprocess.Popen([sys.executable, __file__, "job"], stdin=subprocess.DEVNULL)
    try:
        code = process.wait(6)
    except subprocess.TimeoutExpired:
        process.kill()
        code = None
    print("the nightly job", "did not end" if code is None else f"ended with {code}", file=sys.stderr)
    billed = 0
    for path in Path("tenants").iterdir():
        billed += not sqlite3.connect(path).execute("SELECT count(*) FROM items WHERE billed = 0").fetchone()[0]
    wl.report(ended=code is not None, code=code, billed=billed, tenants=TENANTS)
    wl.finish()


if __name__ == "__main__":
    job() if "job" in sys.argv else main()
