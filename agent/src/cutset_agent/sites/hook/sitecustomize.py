"""Starts `runtime`, the file beside this folder, in every interpreter that has this folder on its PYTHONPATH.

It must also bear the interpreters that `runtime` does not support, and give way to the `sitecustomize` that it hides.
"""
# pathlib is one of the imports that the workload should do by itself.
# ruff: noqa: INP001, PLC0415, PTH100, PTH118, PTH120

import os
import sys


def _start_sites(here: str) -> None:
    # By path: the workload need not have our package, and must not get it.
    from _frozen_importlib_external import SourceFileLoader

    path = os.path.join(os.path.dirname(here), "runtime.py")
    module = type(sys)("_cutset_runtime")
    module.__file__ = path
    sys.modules[module.__name__] = module
    SourceFileLoader(module.__name__, path).exec_module(module)
    module.start(os.environ["CUTSET_SITES"])


def _run_hidden_sitecustomize() -> None:
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    spec = PathFinder.find_spec("sitecustomize")
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if sys.version_info >= (3, 8):  # noqa: UP036 - this is not Cutset's own interpreter
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _here]  # as without us
    try:
        if os.environ.get("CUTSET_SITES"):
            _start_sites(_here)
    finally:  # `site` prints the error and goes on
        _run_hidden_sitecustomize()
