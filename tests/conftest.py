"""The same examples in every run, so that no commit fails by bad luck; `HYPOTHESIS_PROFILE=default` tries new ones."""

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
