"""Raises one exception at one call, to verify the cases: INJECT is {"site", "occurrence", "exception", "mark"} in JSON.

A call `f(x)` of the module and function named by the site becomes `_fault_(f)(x)`; with INJECT_COUNT=<folder> nothing
is raised, all calls of the packages in INJECT_TARGETS are counted, and the counts are written there at the end.
"""
import ast
import atexit
import builtins
import importlib.abc
import importlib.machinery
import json
import os
import sys
import threading

WANTED = json.loads(os.environ.get("INJECT", "null"))
COUNT = os.environ.get("INJECT_COUNT")
TARGETS = [name for name in os.environ.get("INJECT_TARGETS", "").split(",") if name]
counts = {}
guard = threading.Lock()


def make(text):
    parts = text.split("(")[0].split(".")
    scope = {}
    for end in range(len(parts) - 1, 0, -1):
        try:
            importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        scope[parts[0]] = sys.modules[parts[0]]
        break
    return eval(text, scope)


def fault(site, function):
    with guard:
        counts[site] = nth = counts.get(site, 0) + 1
    if COUNT or nth != WANTED["occurrence"]:
        return function
    try:
        os.close(os.open(WANTED["mark"], os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return function

    def raise_it(*_, **__):
        raise make(WANTED["exception"])

    return raise_it


class Calls(ast.NodeTransformer):
    def __init__(self, module):
        self.module, self.names, self.seen, self.inside = module, [], {}, 0

    def scope(self, node, function):
        self.names.append(node.name)
        self.inside += function
        node.body = [self.visit(child) for child in node.body]
        self.inside -= function
        self.names.pop()
        return node

    def visit_FunctionDef(self, node):
        return self.scope(node, 1)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        if self.inside:
            return self.scope(node, 0)
        return self.scope(node, 0)

    def visit_Call(self, node):
        target = node.func
        replaced = target
        if self.inside:
            text = ast.unparse(target) if hasattr(ast, "unparse") else old_unparse(target)
            site = "%s::%s::%s" % (self.module, ".".join(self.names), " ".join(text.split()))
            number = self.seen[site] = self.seen.get(site, -1) + 1
            site += "#%d" % number if number else ""
            if COUNT or site == WANTED["site"]:
                replaced = ast.Call(ast.Name("_fault_", ast.Load()), [ast.Constant(site), target], [])
                ast.fix_missing_locations(ast.copy_location(replaced, node))
        self.visit(target)
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        node.func = replaced
        return node


def old_unparse(node):
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return old_unparse(node.value) + "." + node.attr
    if isinstance(node, ast.Call):
        return old_unparse(node.func) + "(...)"
    return type(node).__name__


class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, name):
        path = self.get_filename(name)
        with open(path, "rb") as source:
            tree = ast.parse(source.read(), path)
        tree = ast.fix_missing_locations(Calls(name).visit(tree))
        return compile(tree, path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if COUNT:
            if not any(name == t or name.startswith(t + ".") for t in TARGETS):
                return None
        elif name != WANTED["site"].split("::")[0]:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


def write_counts():
    with open(os.path.join(COUNT, "counts.%d.json" % os.getpid()), "w") as out:
        json.dump(counts, out)


if WANTED or COUNT:
    builtins._fault_ = fault
    sys.meta_path.insert(0, Finder())
    if COUNT:
        atexit.register(write_counts)
        ended = os._exit

        def leave(code):
            write_counts()
            ended(code)

        os._exit = leave
