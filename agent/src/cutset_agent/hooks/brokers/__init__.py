"""Clients of message brokers."""
