"""Starts the agent in every interpreter that has this folder on its PYTHONPATH, and gives way to the `sitecustomize`
that it hides."""
# pathlib is one of the imports that the host should do by itself.
# ruff: noqa: INP001, PLC0415, PTH100, PTH118, PTH120

import os
import sys


def _start_agent(package: str) -> None:
    # By path: the host need not have our package, and must not get all that is installed beside it.
    if "cutset_agent" not in sys.modules:
        from importlib.machinery import ModuleSpec, SourceFileLoader
        from importlib.util import module_from_spec

        loader = SourceFileLoader("cutset_agent", os.path.join(package, "__init__.py"))
        spec = ModuleSpec("cutset_agent", loader, origin=loader.path, is_package=True)
        spec.submodule_search_locations = [package]
        module = sys.modules["cutset_agent"] = module_from_spec(spec)
        module.__file__ = loader.path
        loader.exec_module(module)
    sys.modules["cutset_agent"].install()


def _run_hidden_sitecustomize() -> None:
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    spec = PathFinder.find_spec("sitecustomize")
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _here]  # as without us
try:
    if sys.version_info >= (3, 9) and os.environ.get("CUTSET_AGENT") == "1":
        _start_agent(os.path.dirname(_here))
finally:  # `site` prints the error and goes on
    _run_hidden_sitecustomize()
