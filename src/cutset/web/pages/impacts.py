"""Impacts: what a fault at a rate did to each API upstream."""

from starlette.routing import Route

ROUTES: list[Route] = []
