"""What we promise about our own source, checked: `python -m checks` (`make check`)."""
