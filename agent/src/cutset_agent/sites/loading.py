"""Gets at the code of the files that have sites, before Python runs it. `runtime` loads it in every interpreter.

Modules are caught in `SourceFileLoader.get_code`, whatever finds them, which includes `python -m` and folders run as
programs; `runpy.run_path`, with which multiprocessing loads the main script again, in `runpy._get_code_from_file`; the
script of `python script.py`, which Python compiles by itself, by an audit hook (`_rewrite_script`); what pytest
compiles by itself, test files above all, once it has rewritten their assertions (`_rewrite_for_pytest`).

Not covered: interpreters started with -E, -I or -S or without our environment; modules in zip files; what is loaded by
another loader that compiles in its own way.
"""
# pathlib is one of the imports that the workload should do by itself.
# ruff: noqa: PTH103, PTH105, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import _imp
import _thread
import marshal
import os
import sys
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, ModuleType
    from typing import Any

    from cutset_agent.sites.runtime import Hook

REWRITING = 2  # to be raised whenever `rewriting` writes other code: part of the key of cached code


def install(hook: Hook, after_imports: dict[str, Callable[[Hook, Any], None]]) -> None:
    """Also do what is to be done after some modules have been imported, by their names."""
    _rewrite_modules(hook)
    _act_after_imports(
        hook, {**after_imports, "runpy": _rewrite_run_path, "_pytest.assertion.rewrite": _rewrite_for_pytest}
    )
    _rewrite_script(hook)


def _rewrite_modules(hook: Hook) -> None:
    original_get_code = SourceFileLoader.get_code
    original_compile = SourceFileLoader.source_to_code

    def get_code(self: Any, fullname: str) -> CodeType | None:
        code = None
        if type(self).source_to_code is original_compile:
            code = _rewritten(hook, self.path)
        elif hook.files.get(hook.analysed.real_path(self.path)):
            hook.report(f"{self.path} is not rewritten: {type(self)!r} compiles it in its own way")
        return original_get_code(self, fullname) if code is None else code

    # Python cuts the frames of this file out of tracebacks, and ours should go with them.
    get_code.__code__ = get_code.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")
    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def _rewrite_run_path(hook: Hook, runpy: Any) -> None:
    original = runpy._get_code_from_file  # noqa: SLF001

    def get_code_from_file(*arguments: Any) -> Any:  # the path comes last
        result = original(*arguments)
        code = _rewritten(hook, os.fsdecode(arguments[-1]))
        if code is None:
            return result
        return (code, *result[1:]) if isinstance(result, tuple) else code  # which it is depends on the version

    runpy._get_code_from_file = get_code_from_file  # noqa: SLF001


def _rewrite_for_pytest(hook: Hook, pytest: Any) -> None:
    """Before pytest compiles; what it keeps compiled beside the source is neither used nor changed."""
    rewrite_asserts, read_pyc, write_pyc = pytest.rewrite_asserts, pytest._read_pyc, pytest._write_pyc  # noqa: SLF001

    def rewrite_all(tree: Any, *arguments: Any) -> None:
        rewrite_asserts(tree, *arguments)
        path = next((each for each in arguments if isinstance(each, str)), "")  # which it is depends on the version
        if path and _is_rewritten(hook, path):
            try:
                for problem in hook.part("rewriting").rewrite_file(tree, path, *_work_in(hook, path)):
                    hook.report(problem)
            except Exception as error:  # noqa: BLE001 - the workload goes on
                hook.report(f"{path} is not rewritten: {error!r}")

    def read(source: Any, *arguments: Any) -> Any:
        return None if _is_rewritten(hook, os.fspath(source)) else read_pyc(source, *arguments)

    def write(state: Any, code: CodeType, *arguments: Any) -> Any:
        return False if _is_rewritten(hook, code.co_filename) else write_pyc(state, code, *arguments)

    pytest.rewrite_asserts, pytest._read_pyc, pytest._write_pyc = rewrite_all, read, write  # noqa: SLF001


def _rewrite_script(hook: Hook) -> None:
    """Have the rewritten script run in place of the one that Python is about to compile and run.

    Python announces the code of the script to audit hooks before it runs it. Ours adds a second one, which is called
    next and runs the rewritten code, which ends with SystemExit: so Python does not get to run its own. The second
    hook is a property that calls `exec`, with no frame of ours under the frame of the script.
    """
    script = sys.argv[0] if sys.argv else ""
    if sys.flags.inspect or not _is_rewritten(hook, script):
        return
    script = os.path.realpath(script)
    rewritten: list[CodeType | None] = []

    # Without `__cantrace__`, debuggers would not see the program.
    runner: Any = type("Runner", (), {"__cantrace__": True, "run": staticmethod(exec)})

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "exec" or len(rewritten) > 1:
            return
        code = arguments[0]
        if rewritten and code is rewritten[0]:  # `exec` has announced it as well
            runner.__call__ = lambda *_: None
            rewritten.append(None)
        elif not rewritten and code.co_name == "<module>" and os.path.realpath(code.co_filename) == script:
            from operator import methodcaller  # noqa: PLC0415

            rewritten.append(_rewritten(hook, code.co_filename, is_script=True))
            if rewritten[0] is not None:
                runner.__call__ = property(methodcaller("run", rewritten[0], sys.modules["__main__"].__dict__))
                sys.addaudithook(runner())

    sys.addaudithook(audit)


def _act_after_imports(hook: Hook, actions: dict[str, Callable[[Hook, Any], None]]) -> None:
    for name in [name for name in actions if name in sys.modules]:
        actions.pop(name)(hook, sys.modules[name])
    sys.meta_path.insert(0, _Finder(hook, actions))


class _Finder:
    """Lets other finders find, and acts once one of a few modules has been imported."""

    def __init__(self, hook: Hook, actions: dict[str, Callable[[Hook, Any], None]]) -> None:
        self.hook = hook
        self.actions = actions

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.actions:
            return None
        for finder in sys.meta_path:
            find_spec = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find_spec is None else find_spec(name, path, target)
            if spec is not None:
                spec.loader = _Loader(self, spec.loader)
                return spec
        return None


class _Loader:
    def __init__(self, finder: _Finder, loader: Any) -> None:
        self.finder = finder
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        action = self.finder.actions.pop(module.__name__, None)
        if action is not None:
            action(self.finder.hook, module)


# -- rewriting --------------------------------------------------------------------------------------------------------


def _is_rewritten(hook: Hook, path: str) -> bool:
    return bool(hook.marks and hook.analysed[path]) or hook.analysed.real_path(path) in hook.files


def _work_in(hook: Hook, path: str) -> tuple[str, int]:
    """The rows of a file, and its number if its functions are marked: then it is told that it runs."""
    marks = hook.analysed.number(path) if hook.marks else 0
    if marks:
        hook[f"{marks} 0"]
    return hook.files.get(hook.analysed.real_path(path), "[]"), marks


def _rewritten(hook: Hook, path: str, *, is_script: bool = False) -> CodeType | None:
    """The code of a file, with its sites and marks; none if it has none or if something is wrong with it."""
    if not _is_rewritten(hook, path):
        return None
    try:
        rows, marks = _work_in(hook, path)
        status = os.stat(path)
        version = (REWRITING, MAGIC_NUMBER, sys.flags.optimize, is_script)
        key = repr((version, path, status.st_mtime_ns, status.st_size, rows, marks)).encode()
        cached = os.path.join(hook.cache, _imp.source_hash(0, key).hex())
        try:
            with open(cached, "rb") as file:
                cached_key, code, missing = marshal.loads(file.read())  # noqa: S302 - our own
        except (OSError, ValueError, EOFError, TypeError):
            cached_key = None
        if cached_key != key:
            code, missing = hook.part("rewriting").compile_rewritten(path, rows, marks, is_script=is_script)
            store(cached, marshal.dumps((key, code, missing)))
        for problem in missing:
            hook.report(problem)
    except Exception as error:  # noqa: BLE001 - it runs unchanged
        hook.report(f"{path} is not rewritten: {error!r}")
        return None
    return code  # type: ignore[no-any-return]


def store(path: str, content: bytes) -> None:
    unfinished = f"{path}.{os.getpid()}.{_thread.get_ident()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(unfinished, "wb") as file:
            file.write(content)
        os.replace(unfinished, path)
    except OSError:
        pass  # the next process compiles again
