import json

import pytest
from tests.samples.jvm_programs import IO, Attempt, Invoke, Log, Throw, Type, program_of, tables_of

from cutset.errors import CutsetError
from cutset.model.reproduction.site import SiteKind
from cutset.reproduce.jvm.tables import read_tables

_STORE = Type(
    {
        "save": [
            Attempt([Invoke("java.nio.channels.FileChannel.force", [IO])], [(IO, [Log("cannot save \x01")])]),
            Throw("java.lang.IllegalStateException"),
        ]
    }
)


def test_sites_are_called_as_everywhere():
    sites = program_of({"org.shop.Store": _STORE}).sites
    assert list(map(str, sites)) == [
        "org.shop.Store::save::FileChannel.force",
        "org.shop.Store::save::throw IllegalStateException",
    ]
    assert [site.kind for site in sites] == [SiteKind.CALL, SiteKind.RAISE]
    assert sites[0].path == "org/shop/Store.java"


def test_functions_are_called_as_calling_contexts_call_them():
    program = program_of({"org.shop.Store": _STORE, "org.shop.Shop$Till": Type({"lambda$open$3": [], "<init>": []})})
    assert [function.context for function in program.functions] == [
        "Store.save",
        "Shop$Till.open.lambda",
        "Shop$Till.<init>",
    ]


def test_log_statements_have_the_key_of_their_line():
    (statement,) = program_of({"org.shop.Store": _STORE}).statements
    assert (statement.level, statement.template, statement.key) == ("error", "cannot save \x01", "org.shop.Store:2")


def test_copies_of_a_statement_are_one():
    header, line = tables_of({"org.shop.Store": _STORE}).splitlines()
    method = json.loads(line)
    method["g"].append([9, *method["g"][0][1:]])
    (statement,) = read_tables(b"\n".join((header, json.dumps(method).encode()))).statements
    assert statement.instructions == (1, 9)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "Nothing is in the tables"),
        (b"{}", "Cannot read the tables of the program"),
        (tables_of({"Store": _STORE})[:-9], "Cannot read the tables of the program"),
        (tables_of({"Store": _STORE}).replace(b'"format": 1', b'"format": 9'), "has format 9"),
    ],
)
def test_what_cannot_be_read_is_said(text, problem):
    with pytest.raises(CutsetError, match=problem):
        read_tables(text)
