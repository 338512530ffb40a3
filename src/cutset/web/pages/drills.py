"""Drills: sessions, and their timelines."""

from starlette.routing import Route

ROUTES: list[Route] = []
