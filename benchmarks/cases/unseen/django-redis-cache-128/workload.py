"""A Django shop on the development server: lists of products are computed when needed and cached in Redis for a second."""
import logging
import threading
import time
import urllib.error
import urllib.request

import django
import wl
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path

CATEGORIES, ROUNDS = ("books", "toys", "tools", "tea", "maps"), 7
PORT, REDIS = wl.free_port(), wl.start_redis()
settings.configure(
    DEBUG=False, ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="not a secret",
    CACHES={"default": {"BACKEND": "redis_cache.RedisCache", "LOCATION": f"127.0.0.1:{REDIS}", "TIMEOUT": 60}},
    LOGGING={
        "version": 1, "disable_existing_loggers": False,
        "formatters": {
            "server": {"()": "django.utils.log.ServerFormatter", "format": "[{server_time}] {message}", "style": "{"},
            "plain": {"format": "{levelname} {asctime} {module} {process:d} {thread:d} {message}", "style": "{"},
        },
        "handlers": {
            "server": {"class": "logging.StreamHandler", "formatter": "server"},
            "plain": {"class": "logging.StreamHandler", "formatter": "plain"},
        },
        "loggers": {
            "django.server": {"handlers": ["server"], "level": "INFO", "propagate": False},
            "django.request": {"handlers": ["plain"], "level": "ERROR", "propagate": False},
            "shop": {"handlers": ["plain"], "level": "INFO"},
        },
    },
)
django.setup()


def products(name: str) -> list:
    time.sleep(0.002)
    return [f"{name}-{number}" for number in range(len(name))]


def category(request: HttpRequest, name: str) -> HttpResponse:
    from django.core.cache import cache

    found = cache.get_or_set(f"products:{name}", lambda: products(name), timeout=1)
    return HttpResponse(", ".join(found or []))


urlpatterns = [path("<str:name>/", category)]


def visit(name: str) -> str:
    """What a visitor sees: products, nothing, or an error."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/{name}/", timeout=5) as answer:
            return "products" if answer.read() else "empty"
    except urllib.error.URLError:
        return "error"


def serve() -> None:
    from django.core.servers.basehttp import run
    from django.core.wsgi import get_wsgi_application

    run("127.0.0.1", PORT, get_wsgi_application(), threading=True)


def main() -> None:
    threading.Thread(target=serve, daemon=True).start()
    wl.wait_for_port(PORT)
    seen: dict = {name: [] for name in CATEGORIES}
    for number in range(ROUNDS):
        for name in CATEGORIES:
            seen[name].append(visit(name))
        visit(f"offer-of-day-{number}")
        time.sleep(0.55)
    empty = {name: pages.count("empty") for name, pages in seen.items() if pages[-1] == "empty"}
    logging.getLogger("shop").info("visits: %d, empty pages: %s", ROUNDS * len(CATEGORIES), empty or "none")
    wl.report(empty=empty, seen=seen)
    wl.finish()


if __name__ == "__main__":
    main()
