from cutset.reproduce.python.tables import Tables


def test_what_was_never_written_is_empty_and_kept_apart():
    one, other = Tables(), Tables()
    one.variables[3]["pool"].append(("Pool",))
    one.local_functions[3]["helper"].append(7)
    one.local_classes[3]["Inner"] = 1
    assert one.variables[3]["pool"] == [("Pool",)]
    assert not other.variables[3]["pool"]
    assert not other.local_functions[3]["helper"]
    assert other.local_classes[3] == {}
    assert other.events == []
