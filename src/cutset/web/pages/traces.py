"""Traces: request classes and workflows of what is stored."""

from starlette.routing import Route

ROUTES: list[Route] = []
