"""A fault at a rate on a share of requests, and what it does to everything upstream (ART §3.3–3.4, MicroFI §4.3)."""
