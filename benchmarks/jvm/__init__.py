"""Failures of JVM programs whose cause is known: searched for by their logs, judged by that cause."""
