"""One search over every effect at every point."""
