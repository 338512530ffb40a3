"""Statements and the server's errors. That a real server raises them is tested with each client."""

import json

import pytest

from cutset_agent.hooks.data.postgres import SERVER_ERRORS, LostAnswer, server_error, statement_payload, verb_of


@pytest.mark.parametrize(
    ("query", "verb"),
    [("insert into a values (1)", "INSERT"), (b" COMMIT;", "COMMIT"), ("\n\tselect\n1", "SELECT"), ("", "")],
)
def test_the_verb_of_a_statement_is_its_first_word(query, verb):
    assert verb_of(query) == verb


@pytest.mark.parametrize("fault", ["read-only", "disk-full"])
def test_a_server_that_refuses_writes_answers_reads(fault):
    assert server_error(fault, "SELECT 1") is None
    assert server_error(fault, "UPDATE a SET b = 1") is not None


def test_a_read_only_server_names_what_it_refuses():
    assert server_error("read-only", "delete from a").message == "cannot execute DELETE in a read-only transaction"


@pytest.mark.parametrize("fault", SERVER_ERRORS)
def test_the_statement_that_raises_an_error_says_all_of_it(fault):
    error = SERVER_ERRORS[fault]
    assert all(part in error.statement() for part in error)


def test_a_payload_is_text_whatever_is_in_it():
    payload = statement_payload("SELECT %s", (b"\xff", "ä", None))
    assert json.loads(payload) == {"query": "SELECT %s", "parameters": ["\ufffd", "ä", None]}
    assert "ä" in payload


def test_an_answer_is_lost_with_its_connection():
    closed = []
    lost = LostAnswer(OSError("lost"), lambda: closed.append(True))
    assert closed == []
    assert str(lost.exception) == "lost"
    assert closed == [True]
