"""Clients of HTTP."""
