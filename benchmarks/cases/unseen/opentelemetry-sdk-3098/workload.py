"""A service that works off jobs in threads and exports metrics every 150 ms; a status page reads the same metrics by itself."""
import json
import logging
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import wl
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics._internal.exceptions import MetricsTimeoutError
from opentelemetry.sdk.metrics.export import (
    InMemoryMetricReader, MetricExporter, MetricExportResult, MetricsData, PeriodicExportingMetricReader,
)

SECONDS, INTERVAL = 3.0, 0.15
log = logging.getLogger("service")


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"time": self.formatTime(record), "severity": record.levelname, "logger": record.name}
        line |= {"thread": record.threadName, "message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


class Collector(MetricExporter):
    """The other end: a file with one line for each export."""

    def __init__(self) -> None:
        super().__init__()
        self.exports: list[float] = []

    def export(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: object) -> MetricExportResult:
        self.exports.append(time.monotonic())
        with open("metrics.jsonl", "a") as out:
            out.write(metrics_data.to_json() + "\n")
        return MetricExportResult.SUCCESS

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return True

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: object) -> None:
        pass


def unhandled(args: threading.ExceptHookArgs) -> None:
    info = (args.exc_type, args.exc_value, args.exc_traceback)
    log.error("unhandled exception in thread %s", args.thread.name, exc_info=info)


handler = logging.StreamHandler(sys.stderr)
handler.setFormatter(JsonLines())
logging.basicConfig(level=logging.INFO, handlers=[handler])
threading.excepthook = unhandled
collector, page = Collector(), InMemoryMetricReader()
periodic = PeriodicExportingMetricReader(collector, export_interval_millis=INTERVAL * 1000)
meter = MeterProvider(metric_readers=[periodic, page]).get_meter("service")
waiting: list[int] = []


def queue_length(options: CallbackOptions):
    yield Observation(len(waiting))


meter.create_observable_gauge("queue.length", [queue_length])
jobs, seconds = meter.create_counter("jobs"), meter.create_histogram("job.seconds")


def work(number: int) -> None:
    start = time.monotonic()
    time.sleep(0.01)
    waiting.remove(number)
    jobs.add(1, {"kind": "even" if number % 2 == 0 else "odd"})
    seconds.record(time.monotonic() - start)


end, number, asked = time.monotonic() + SECONDS, 0, 0
with ThreadPoolExecutor(3, "worker") as pool:
    while time.monotonic() < end:
        number += 1
        waiting.append(number)
        pool.submit(work, number)
        if number % 40 == 0:
            log.info("%d jobs taken", number)
        if len(collector.exports) > 4 * asked:
            asked += 1
            try:
                data = page.get_metrics_data()
                log.info("status page: %d metrics", len(data.resource_metrics[0].scope_metrics[0].metrics))
            except MetricsTimeoutError as error:
                log.warning("status page: %s", error)
        time.sleep(0.01)
silent = time.monotonic() - (collector.exports[-1] if collector.exports else 0)
log.info("%d jobs, %d exports, the last one %.1f s ago", number, len(collector.exports), silent)
wl.report(jobs=number, exports=len(collector.exports), silent_s=silent, interval_s=INTERVAL)
wl.finish()
