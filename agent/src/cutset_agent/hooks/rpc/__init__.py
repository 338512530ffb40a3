"""Clients of gRPC."""
