"""What to harden: the frontier, what each choice removes, apply and verify."""

from starlette.routing import Route

ROUTES: list[Route] = []
