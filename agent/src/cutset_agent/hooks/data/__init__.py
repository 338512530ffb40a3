"""Clients of databases and caches."""
