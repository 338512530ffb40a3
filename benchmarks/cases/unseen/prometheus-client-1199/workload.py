"""A small pre-fork web server: a master replaces workers after some requests; metrics of all workers are scraped together."""
import http.server
import logging
import os
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import wl

os.environ["PROMETHEUS_MULTIPROC_DIR"] = "metrics"
Path("metrics").mkdir()
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess  # noqa: E402

WORKERS, REQUESTS_PER_WORKER, PAGES = 2, 12, 90
REQUESTS = Counter("requests", "Pages served")
SECONDS = Histogram("request_seconds", "Time to serve a page", buckets=(0.01, 0.1, 1))
BUSY = Gauge("busy", "Requests being served", multiprocess_mode="livesum")
log = logging.getLogger("web")


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        with BUSY.track_inprogress(), SECONDS.time():
            try:
                body, code = self.page(), 200
            except Exception:
                log.exception("%s failed", self.path)
                body, code = b"error", 500
        REQUESTS.inc()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def page(self) -> bytes:
        if self.path != "/metrics":
            time.sleep(0.005)
            return b"hello"
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)
        return generate_latest(registry)

    def log_message(self, *args: object) -> None:
        pass


def worker(listener: socket.socket) -> None:
    server = http.server.HTTPServer(listener.getsockname(), Pages, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    for metric in (REQUESTS, BUSY):
        metric.inc(0)  # open the files of this process
    log.info("worker is ready")
    for _ in range(REQUESTS_PER_WORKER):
        server.handle_request()
    log.info("worker has served its requests")


def master(listener: socket.socket) -> None:
    alive: set[int] = set()

    def stop(*_: object) -> None:
        for pid in alive:
            os.kill(pid, signal.SIGKILL)
        wl.finish()

    signal.signal(signal.SIGTERM, stop)
    while True:
        while len(alive) < WORKERS:
            pid = os.fork()
            if pid == 0:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                try:
                    worker(listener)
                except BaseException:
                    log.exception("worker failed")
                    os._exit(1)
                os._exit(0)
            alive.add(pid)
        pid, status = os.wait()
        alive.discard(pid)
        multiprocess.mark_process_dead(pid)
        log.info("worker %d exited with %d", pid, os.waitstatus_to_exitcode(status))


def fetch(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=3) as answer:
            return bool(answer.read())
    except (urllib.error.URLError, OSError) as error:
        log.warning("%s: %s", url.rpartition("/")[2], error)
        return False


def visitors(port: int) -> None:
    url, served, scrapes = f"http://127.0.0.1:{port}", 0, []
    for number in range(PAGES):
        served += fetch(f"{url}/page{number}")
        if number % 9 == 8:
            scrapes.append(fetch(f"{url}/metrics"))
    log.info("%d of %d pages served, scrapes: %s", served, PAGES, "".join(".F"[not good] for good in scrapes))
    wl.report(pages=PAGES, served=served, scrapes=len(scrapes), failed=scrapes.count(False), last=scrapes[-3:])
    os.kill(os.getppid(), signal.SIGTERM)


logging.basicConfig(
    level=logging.INFO, stream=sys.stderr, datefmt="%Y-%m-%d %H:%M:%S +0000",
    format="[%(asctime)s] [%(process)d] [%(levelname)s] %(message)s",
)
listening = socket.create_server(("127.0.0.1", 0), backlog=64)
visitor = os.fork()
if visitor == 0:
    port = listening.getsockname()[1]
    listening.close()
    time.sleep(0.3)
    visitors(port)
    os._exit(0)
try:
    master(listening)
finally:
    wl.finish(1)
