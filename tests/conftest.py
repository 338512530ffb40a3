"""The same examples in every run, so that no commit fails by bad luck; `HYPOTHESIS_PROFILE=default` tries new ones.

With `HYPOTHESIS_PROFILE=fast` (`make test-fast`) every property is tried with a few examples, however many it asks for.
"""

import os

import pytest
from hypothesis import is_hypothesis_test, settings

FEW = 10  # examples per property: what fails for one input in ten is seen at once, the rest by `make test`
pytest_plugins = ["pytester"]  # pytest takes it here alone; the plugin for pytest is tested with it
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "repeatable")

settings.register_profile("repeatable", derandomize=True, deadline=None)  # no test is about how long it takes
settings.register_profile("fast", derandomize=True, deadline=None, max_examples=FEW)
settings.load_profile(PROFILE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if PROFILE != "fast":
        return
    for item in items:
        test = getattr(item, "obj", None)
        if is_hypothesis_test(test):
            asked = test._hypothesis_internal_use_settings
            test._hypothesis_internal_use_settings = settings(asked, max_examples=min(asked.max_examples, FEW))
