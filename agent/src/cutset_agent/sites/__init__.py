"""Fault sites inside the workload of a reproduction: counted, and one of them made to fail (ANDURIL §4.2)."""
