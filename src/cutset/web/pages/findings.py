"""A finding: what the user sees, the traces, the evidence, the remedy, the history."""

from starlette.routing import Route

ROUTES: list[Route] = []
