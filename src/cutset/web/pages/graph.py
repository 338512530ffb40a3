"""The service graph: which calls matter, and what becomes of a request when some of them fail."""

from starlette.routing import Route

ROUTES: list[Route] = []
