"""Eight orders, one after the other, logged in the format that is named."""

import json
import logging
import sys

import outbox

TIME = "%(asctime)s"
FORMATS = {
    "plain": f"{TIME} %(levelname)s [%(threadName)s] %(name)s: %(message)s",
    "celery": f"[{TIME}: %(levelname)s/%(processName)s] %(message)s",
    "airflow": f"[{TIME}] {{%(filename)s:%(lineno)d}} %(levelname)s - %(message)s",
    "bare": "%(levelname)s:%(name)s:%(message)s",
}


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        told = {"ts": self.formatTime(record), "level": record.levelname, "logger": record.name}
        return json.dumps({**told, "message": record.getMessage()})


def formatter(name: str) -> logging.Formatter:
    if name == "json":
        return JsonFormatter()
    if name == "uvicorn":
        from uvicorn.logging import DefaultFormatter

        return DefaultFormatter("%(levelprefix)s %(message)s", use_colors=False)
    if name == "django":
        from django.utils.log import DEFAULT_LOGGING, ServerFormatter

        return ServerFormatter(DEFAULT_LOGGING["formatters"]["django.server"]["format"], style="{")
    return logging.Formatter(FORMATS[name])


handler = logging.StreamHandler()
handler.setFormatter(formatter(sys.argv[1]))
logging.basicConfig(level=logging.INFO, handlers=[handler])
kept = sum(map(outbox.keep, range(8)))
logging.info("all is kept" if kept == 8 else "orders are lost")
