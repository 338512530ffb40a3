"""A service that runs notebooks in an IPython shell: three short ones, then a long one that is stopped at its time limit.

After each notebook the shell is reset, which ends the session of the history. The one that is stopped has no such end:
the process is killed, and what had not been saved by then is gone.
"""
import sqlite3
import time
from datetime import datetime
from pathlib import Path

import wl
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


def tell(*words: object) -> None:
    print(f"[{datetime.now():%H:%M:%S}]", *words, flush=True)


def run_notebook(name: str, cells: int) -> None:
    tell(name, "starts,", cells, "cells")
    for number in range(cells):
        shell.run_cell(f"total = sum(range({number}))  # {name}", store_history=True)
        time.sleep(0.03)
    tell(name, "done")


config = Config()
config.HistoryManager.hist_file = Path("history.sqlite")
config.HistoryManager.db_cache_size = 3
shell = InteractiveShell.instance(config=config, ipython_dir=str(Path("ipython")))
notebooks = {"prices": 5, "stock": 5, "sales": 5, "forecast": 47}
for name, cells in notebooks.items():
    run_notebook(name, cells)
    if name != "forecast":
        try:
            shell.reset()
        except sqlite3.OperationalError as error:
            tell("cannot reset the shell:", error)
tell("time limit reached, stopping the shell")
with sqlite3.connect("file:history.sqlite?mode=ro", uri=True) as history:
    saved = history.execute("SELECT count(*) FROM history").fetchone()[0]
tell(saved, "of", sum(notebooks.values()), "cells are in the history")
wl.report(run=sum(notebooks.values()), saved=saved)
wl.finish()
