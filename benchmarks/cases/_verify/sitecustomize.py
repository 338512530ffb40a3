"""Makes one call of a package fail, to check the cases: VERIFY = JSON with targets, and site, occurrence, exception, or count.

A call f(x) becomes (fail() if due(i) else f(x)); fail raises from C, so that tracebacks look as they do in production.
"""
import os
import sys

if "VERIFY" in os.environ:
    import ast
    import atexit
    import builtins
    import importlib
    import importlib.machinery as machinery
    import json
    import threading

    TOLD = json.loads(os.environ["VERIFY"])
    NAMES: list = []
    COUNTS: list = []
    LOCK = threading.Lock()

    def due(number):
        with LOCK:
            COUNTS[number] += 1
            if "site" not in TOLD or COUNTS[number] != TOLD["occurrence"]:
                return False
        try:
            os.close(os.open(TOLD["fired"], os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            return False
        builtins.__verify_fail__ = raiser()
        return True

    def raiser():
        """A C function that raises the exception."""
        import asyncio

        text = TOLD["exception"]
        parts = text.split("(")[0].split(".")
        scope = {}
        for end in range(len(parts) - 1, 0, -1):
            try:
                importlib.import_module(".".join(parts[:end]))
                scope[parts[0]] = sys.modules[parts[0]]
                break
            except ImportError:
                pass
        error = eval(text, scope)
        loop = asyncio.new_event_loop()
        future = asyncio.Future(loop=loop)
        if isinstance(error, asyncio.CancelledError):
            future.cancel()
        else:
            future.set_exception(error)
        loop.close()
        return future.result

    class Rewrite(ast.NodeTransformer):
        def __init__(self, module):
            self.module, self.scope, self.seen = module, [], {}

        def visit_scope(self, node):
            for field in ("decorator_list", "bases", "keywords"):
                if hasattr(node, field):
                    setattr(node, field, [self.visit(item) for item in getattr(node, field)])
            if not isinstance(node, ast.ClassDef):
                node.args = self.visit(node.args)
            names = [node.name] if isinstance(node, ast.ClassDef) else [node.name, "<locals>"]
            self.scope += names
            node.body = [self.visit(statement) for statement in node.body]
            del self.scope[-len(names):]
            return node

        visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_scope

        def visit_Call(self, node):
            if "<locals>" not in self.scope:
                return self.generic_visit(node)
            scope = self.scope[:-1] if self.scope[-1] == "<locals>" else self.scope
            callee = " ".join(ast.unparse(node.func).split())
            name = f"{self.module}::{'.'.join(scope)}::{callee}"
            before = self.seen[name] = self.seen.get(name, -1) + 1
            if before:
                name += f"#{before}"
            self.generic_visit(node)
            if TOLD.get("site", name) != name:
                return node
            NAMES.append(name)
            COUNTS.append(0)
            where = "__verify_due__", "__verify_fail__"
            test = ast.Call(ast.Name(where[0], ast.Load()), [ast.Constant(len(NAMES) - 1)], [])
            fail = ast.Call(ast.Name(where[1], ast.Load()), [], [])
            for new in (test, fail):
                for part in ast.walk(ast.copy_location(new, node)):
                    ast.copy_location(part, node)
            return ast.copy_location(ast.IfExp(test, fail, node), node)

    class Loader(machinery.SourceFileLoader):
        def get_code(self, fullname):
            path = self.get_filename(fullname)
            with open(path, "rb") as source:
                tree = Rewrite(fullname).visit(ast.parse(source.read(), path))
            return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    class Finder:
        @staticmethod
        def find_spec(fullname, path=None, target=None):
            if fullname.split(".")[0] not in TOLD["targets"]:
                return None
            spec = machinery.PathFinder.find_spec(fullname, path, target)
            if spec and isinstance(spec.loader, machinery.SourceFileLoader):
                spec.loader = Loader(spec.loader.name, spec.loader.path)
            return spec

    def tell():
        executed = {name: count for name, count in zip(NAMES, COUNTS) if count}
        with open(f"{TOLD['fired']}.{os.getpid()}.count", "w") as out:
            json.dump(executed, out, indent=1)

    builtins.__verify_due__ = due
    sys.meta_path.insert(0, Finder)
    if "site" not in TOLD:
        atexit.register(tell)
        end = os._exit

        def _exit(code):
            tell()
            end(code)

        os._exit = _exit
