"""Servers: where a request with its plan comes in."""
