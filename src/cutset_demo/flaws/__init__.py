"""Ten small services with one planted bug each, and the same services without it; FLAWS.yaml is the answer key."""
