from cutset.judge.quotes import as_words, one_line, snippet


def test_a_snippet_is_one_line_without_control_characters() -> None:
    assert one_line("a\n  b\x1b[31m\u202ec") == "a b[31mc"
    assert snippet("say `no`\n") == "say 'no'"


def test_a_long_text_is_quoted_around_the_word_that_matters() -> None:
    text = "x " * 200 + "error" + " y" * 200
    quoted = snippet(text, "error")
    assert "error" in quoted
    assert quoted.startswith("…")
    assert quoted.endswith("…")
    assert len(quoted) <= 122


def test_words_are_whole() -> None:
    assert as_words("error").search("an error.")
    assert not as_words("error").search("terrors")
