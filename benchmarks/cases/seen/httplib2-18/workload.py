"""A billing run: asks an HTTP service for the accounts of twelve households, and writes a bill for each member.

What describes a household is asked for again if the service does not answer, or answers nonsense. An account that
does not come in time is left for the next run.
"""
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httplib2
import wl
from loguru import logger

PARTS = ("members", "tariff", "discounts")
logger.remove()
logger.add(sys.stderr, format="{time:YYYY-MM-DD HH:mm:ss.SSS} | {level: <8} | {name}:{function}:{line} - {message}")


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        _, kind, number, *part = self.path.split("/")
        time.sleep(0.02)
        if kind == "accounts":
            answer = {"used": 100 + int(number)}
        else:
            members = [2 * int(number), 2 * int(number) + 1]
            answer = {part[0]: {"members": members, "tariff": 3, "discounts": []}[part[0]]}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def ask_for(part: str, household: int):
    for attempt in range(3):
        try:
            answer = json.loads(http.request(f"{service}/households/{household}/{part}")[1])
            return answer[part]
        except (OSError, KeyError, httplib2.HttpLib2Error) as error:
            logger.warning("no {} of household {}: {!r}, attempt {}", part, household, error, attempt + 1)
    raise SystemExit(f"the service does not know household {household}")


def account(member: int) -> int:
    return json.loads(http.request(f"{service}/accounts/{member}")[1])["used"]


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
service = f"http://127.0.0.1:{server.server_port}"
http = httplib2.Http(timeout=2)
bills: dict[int, int] = {}
left = []
for household in range(12):
    members, tariff, discounts = (ask_for(part, household) for part in PARTS)
    for member in members:
        try:
            bills[member] = account(member) * tariff - sum(discounts)
        except Exception as error:
            logger.warning("account {} has to wait for the next run: {}", member, error)
            left.append(member)
        else:
            logger.info("bill of {}: {}", member, bills[member])
    logger.info("household {} done", household)
Path("bills.json").write_text(json.dumps(bills))
logger.success("{} bills written, {} left", len(bills), len(left))
wrong = {member: bill for member, bill in bills.items() if bill != 3 * (100 + member)}
wl.report(bills=len(bills), left=left, wrong=wrong)
wl.finish()
