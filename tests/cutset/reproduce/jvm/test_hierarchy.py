import pytest
from tests.samples.jvm_programs import INTERFACE, IO, STATIC, VIRTUAL, Declared, Type, program_of

from cutset.reproduce.jvm.hierarchy import ANYTHING, Callee, ClassHierarchy

_ABSTRACT = Declared([], access=0x401)
_SHOP = {
    "shop.Store": Type({"save": _ABSTRACT}, parent=""),
    "shop.Disk": Type({"save": [], "close": []}, interfaces=["shop.Store"]),
    "shop.Fast": Type({"open": []}, parent="shop.Disk"),
    "shop.Safe": Type({"save": []}, parent="shop.Disk"),
    "shop.Network": Type({"save": []}),
    "shop.Remote": Type({}, parent="shop.Network", interfaces=["shop.Store"]),
}


def _hierarchy():
    return ClassHierarchy(program_of(_SHOP))


def _targets(owner, name, opcode):
    hierarchy = _hierarchy()
    fixed = opcode == STATIC
    callee = Callee(fixed, *(hierarchy.number(text) for text in (owner, name, "()V")))
    functions = program_of(_SHOP).functions
    return [functions[number].context for number in hierarchy.targets(callee)]


@pytest.mark.parametrize(
    ("owner", "name", "opcode", "reached"),
    [
        ("shop.Disk", "save", VIRTUAL, ["Disk.save", "Safe.save"]),
        ("shop.Disk", "save", STATIC, ["Disk.save"]),
        ("shop.Fast", "save", VIRTUAL, ["Disk.save"]),  # inherited
        ("shop.Fast", "close", STATIC, ["Disk.close"]),
        ("shop.Safe", "save", VIRTUAL, ["Safe.save"]),
        ("shop.Store", "save", INTERFACE, ["Disk.save", "Safe.save", "Network.save"]),  # Remote has Network's
        ("shop.Store", "open", INTERFACE, ["Fast.open"]),
        ("java.util.List", "save", INTERFACE, []),
        ("shop.Disk", "flush", VIRTUAL, []),
    ],
)
def test_a_call_reaches_what_the_classes_below_its_owner_have(owner, name, opcode, reached):
    assert _targets(owner, name, opcode) == reached


@pytest.mark.parametrize(
    ("raised", "caught", "surely", "may"),
    [
        ("java.io.FileNotFoundException", IO, True, True),
        (IO, "java.io.FileNotFoundException", False, True),
        (IO, "java.lang.InterruptedException", False, False),
        (IO, "java.lang.Throwable", True, True),
    ],
)
def test_a_handler_above_surely_catches_and_one_below_may(raised, caught, surely, may):
    hierarchy = _hierarchy()
    kinds = hierarchy.number(raised), hierarchy.number(caught)
    assert (hierarchy.surely(*kinds), hierarchy.may(*kinds)) == (surely, may)


def test_everything_gets_to_a_finally():
    hierarchy = _hierarchy()
    assert hierarchy.surely(hierarchy.number(IO), ANYTHING)


def test_of_a_class_that_is_not_there_nothing_is_sure():
    program = program_of({"A": Type({"f": []}, interfaces=["lost.Exception"])})
    hierarchy = ClassHierarchy(program)
    lost, known = hierarchy.number("lost.Exception"), hierarchy.number(IO)
    assert hierarchy.may(lost, known)
    assert not hierarchy.surely(lost, known)
