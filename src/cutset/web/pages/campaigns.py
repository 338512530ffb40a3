"""Campaigns: the list of them, and each as it goes on."""

from starlette.routing import Route

ROUTES: list[Route] = []
