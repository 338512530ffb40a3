"""Faults on a share of live requests: whether verdicts are right, and whether nobody else notices."""
