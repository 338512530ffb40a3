"""Code that runs without being called: special methods, behind which operators and which functions of Python's own."""

import re
from collections.abc import Iterable, Iterator

# What is asked for if a class does not have a special method.
STAND_INS = {
    "__bool__": ("__len__",),
    "__contains__": ("__iter__", "__getitem__"),
    "__format__": ("__str__", "__repr__"),
    "__ne__": ("__eq__",),
    "__str__": ("__repr__",),
    "__iadd__": ("__add__",),
    "__ior__": ("__or__",),
    "__isub__": ("__sub__",),
}
OPERATORS = {
    "Add": "__add__",
    "BitAnd": "__and__",
    "BitOr": "__or__",
    "Div": "__truediv__",
    "Eq": "__eq__",
    "Gt": "__gt__",
    "GtE": "__ge__",
    "LShift": "__lshift__",
    "Lt": "__lt__",
    "LtE": "__le__",
    "Mod": "__mod__",
    "Mult": "__mul__",
    "NotEq": "__ne__",
    "RShift": "__rshift__",
    "Sub": "__sub__",
}
ENTERING = ("__enter__", "__aenter__", "__exit__", "__aexit__")
# By functions of Python's own that run one of their first argument.
BUILTINS = {
    "abs": "__abs__",
    "anext": "__anext__",
    "bool": "__bool__",
    "bytes": "__bytes__",
    "float": "__float__",
    "format": "__format__",
    "hash": "__hash__",
    "int": "__int__",
    "len": "__len__",
    "next": "__next__",
    "print": "__str__",
    "repr": "__repr__",
    "str": "__str__",
    **dict.fromkeys(
        ("all", "any", "dict", "enumerate", "frozenset", "iter", "list", "max", "min", "set", "sorted", "sum", "tuple"),
        "__iter__",
    ),
}
ITERATING = {"__iter__": "__next__", "__aiter__": "__anext__"}

_PROPERTY = re.compile(r"@[\w.]*property\w*\b[^\n]*\n(?:[ \t]*@[^\n]*\n)*[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)")
_MADE_PROPERTY = re.compile(r"^[ \t]+(\w+)[ \t]*=[ \t]*(?:\w+\.)*\w*property\(", re.MULTILINE)
_SPECIAL = re.compile(r"\bdef[ \t]+(__\w+__)")
_CLASS_OR_DESCRIPTOR = re.compile(r"^[ \t]*class[ \t]+(\w+)|\bdef[ \t]+__(?:get|set)__\b", re.MULTILINE)


def implicit_names(texts: Iterable[str]) -> frozenset[str]:
    """Names by which some source lets code run: of properties, of attributes that are descriptors, special methods.

    Of the text alone, since whoever reads a file has to know what other files define.
    """
    found: set[str] = set()
    descriptors: set[str] = set()
    texts = list(texts)
    for text in texts:
        found.update(_SPECIAL.findall(text))
        if "property" in text:
            found.update(_PROPERTY.findall(text), _MADE_PROPERTY.findall(text))
        if "def __get__" in text or "def __set__" in text:
            descriptors.update(_descriptors(text))
    made = re.compile(rf"^[ \t]+(\w+)[ \t]*(?::[^=\n]*)?=[ \t]*(?:\w+\.)*(?:{'|'.join(descriptors)})\(", re.MULTILINE)
    for text in texts:
        if any(f"{name}(" in text for name in descriptors):
            found.update(made.findall(text))
    return frozenset(found)


def _descriptors(text: str) -> Iterator[str]:
    last = ""
    for match in _CLASS_OR_DESCRIPTOR.finditer(text):
        last = match[1] or last
        if last and not match[1]:
            yield last


def ways_of(method: str) -> tuple[str, ...]:
    return (method, *STAND_INS.get(method, ()))
