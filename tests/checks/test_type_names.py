import ast

import pytest
from checks.type_names import doubled_type_names, public_types


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("class Answer: ...", ["Answer"]),
        ("class _Hidden: ...", []),
        ("Outcome = Survived | Failed | None", ["Outcome"]),
        ("Outcome = Survived | 'Failed'", ["Outcome"]),
        ("Rows = dict[str, int]", ["Rows"]),
        ("Rows: TypeAlias = 'dict[str, int]'", ["Rows"]),
        ("Key = NewType('Key', str)", ["Key"]),
        ("T = TypeVar('T')", []),
        ("Item = TypeVar('Item')", []),
        ("LIMIT = 3", []),
        ("MASKS = FIRST | SECOND", []),
        ("Greeting = 'hello'.upper()", []),
        ("if True:\n    class Early: ...\nelse:\n    class Late: ...", ["Early", "Late"]),
        ("try:\n    class Fast: ...\nexcept ImportError:\n    class Slow: ...", ["Fast", "Slow"]),
        ("def f():\n    class Local: ...", []),
        ("from a import Answer", []),
    ],
)
def test_classes_and_aliases_of_a_module_are_types(source, names):
    assert list(public_types(ast.parse(source))) == names


def test_a_name_with_two_homes_is_found_in_product_agent_and_demo(repository):
    root = repository(
        {
            "src/cutset/a.py": "class Answer: ...\nclass Once: ...\n",
            "src/cutset_demo/b.py": "Answer = int | str\n",
            "agent/src/cutset_agent/c.py": "class Answer: ...\n",
            "tests/cutset/test_a.py": "class Once: ...\n",
        }
    )

    assert doubled_type_names(root) == {
        "Answer": "public type Answer is defined by 3 modules: "
        "src/cutset/a.py, src/cutset_demo/b.py, agent/src/cutset_agent/c.py"
    }


def test_two_branches_of_one_module_are_one_home_and_generated_code_is_not_ours(repository):
    root = repository(
        {
            "src/cutset/a.py": "try:\n    class Fast: ...\nexcept ImportError:\n    class Fast: ...\n",
            "src/cutset_demo/shop_pb2.py": "class Fast: ...\n",
        }
    )

    assert doubled_type_names(root) == {}
