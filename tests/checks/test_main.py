import pytest
from checks.__main__ import main

DOUBLED = {
    "src/cutset/a.py": "class Answer: ...\n",
    "src/cutset/b.py": "class Answer: ...\n",
    "tests/cutset/test_a.py": "",
    "tests/cutset/test_b.py": "",
}


@pytest.fixture
def run(tmp_path, capsys):
    def check(*arguments):
        code = main(list(arguments), tmp_path, tmp_path)
        return code, capsys.readouterr().out

    return check


def test_what_is_not_listed_is_an_error_that_says_what_to_do(repository, run):
    repository(DOUBLED)

    code, output = run()

    assert code == 1
    assert output.splitlines() == [
        "type_names: public type Answer is defined by 2 modules: src/cutset/a.py, src/cutset/b.py",
        "  one meaning per public type name: rename the more special one",
    ]


def test_what_is_listed_is_accepted(repository, run):
    repository(DOUBLED | {"type_names.txt": "Answer\n"})

    assert run() == (0, "")


def test_a_list_may_only_shrink(repository, run, tmp_path):
    repository(DOUBLED | {"type_names.txt": "Answer\nEvent\nTally\n"})

    code, output = run()
    assert code == 1
    assert output.startswith("type_names: Event is settled; strike it off the list: python -m checks --shrink\n")
    assert run("--shrink") == (0, "")
    assert (tmp_path / "type_names.txt").read_text() == "Answer\n"
    assert run() == (0, "")


def test_shrinking_accepts_nothing_new(repository, run, tmp_path):
    repository(DOUBLED | {"type_names.txt": "Event\n"})

    assert run("--shrink")[0] == 1
    assert (tmp_path / "type_names.txt").read_text() == ""
