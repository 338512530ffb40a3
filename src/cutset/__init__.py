"""Cutset finds the smallest sets of failures that break a user's request."""

__version__ = "0.1.0"
