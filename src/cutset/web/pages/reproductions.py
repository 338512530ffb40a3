"""Reproductions: the fault behind a failure, beside the log."""

from starlette.routing import Route

ROUTES: list[Route] = []
