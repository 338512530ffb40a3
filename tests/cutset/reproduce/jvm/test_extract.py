import json
import os
import shutil
import zipfile
from functools import cache
from pathlib import Path

import pytest
from tests.samples.extracted_programs import case_of, extracted_classes, log_apis
from tests.samples.java_samples import built_jar

from cutset.errors import CutsetError, InputError, UsageError
from cutset.model.reproduction.site import Site
from cutset.reproduce.jvm.extract import extract
from cutset.reproduce.jvm.tables import FILLED_IN, JvmProgram, read_tables


@cache
def sample(*options: str) -> JvmProgram:
    built_jar()
    classes = extracted_classes(*options)
    return read_tables(extract(case_of([str(classes)], [classes, log_apis()])))


def sites(program: JvmProgram, module: str, function: str) -> list[str]:
    return [
        str(site).rpartition("::")[2]
        for site in program.sites
        if (site.module, site.function) == (f"extracted.{module}", function)
    ]


def method(program: JvmProgram, module: str, name: str) -> int:
    [number] = [
        number
        for number, function in enumerate(program.functions)
        if (function.module, function.name) == (f"extracted.{module}", name)
    ]
    return number


def texts(program: JvmProgram, name: str, module: str = "Talk") -> list[tuple[str, str, bool, str]]:
    """Level, template, whether there is an exception, and logger."""
    number = method(program, module, name)
    return [
        (each.level, each.template.replace(FILLED_IN, "_"), each.throwable, each.logger)
        for each in program.statements
        if each.method == number
    ]


def called(program: JvmProgram, number: int, instructions: tuple[int, ...]) -> list[str]:
    calls = {call.instruction: call for call in program.method(number).calls}
    return [program.strings[calls[each].name] for each in instructions]


def fields(program: JvmProgram, numbers: tuple[int, ...]) -> list[str]:
    return [program.strings[each].rpartition(".")[2] for each in numbers]


# Sites


def test_copies_of_finally_are_one_site():
    program = sample()
    assert sites(program, "Copies", "everyWayOut") == [
        "InputStream.read",
        "InputStream.mark",
        "InputStream.reset",
        "InputStream.close",
    ]
    assert sites(program, "Copies", "oneCopyAfterTheOther") == ["InputStream.mark", "InputStream.close"]
    assert sites(program, "Copies", "finallyInFinally") == [
        "InputStream.read",
        "InputStream.reset",
        "InputStream.close",
    ]


def test_each_place_of_a_site_is_a_call_of_it():
    program = sample()
    number = method(program, "Copies", "everyWayOut")
    close = [row for row in program.site_rows if row.method == number][-1]
    calls = [call for call in program.method(close.method).calls if program.strings[call.name] == "close"]
    assert len(close.instructions) == 4
    assert [call.instruction for call in calls] == list(close.instructions)
    assert {program.site_rows[call.site] for call in calls} == {close}


def test_what_closes_a_resource_is_one_site_for_each():
    assert sites(sample(), "Copies", "resources") == [
        "FileInputStream.<init>",
        "InputStream.close",
        "InputStream.close#1",
        "FileInputStream.<init>#1",
        "InputStream.read",
        "InputStream.read#1",
    ]
    assert sites(sample(), "Copies", "whichMayBeNull") == ["InputStream.close", "InputStream.read"]


def test_calls_that_read_alike_are_no_copies():
    assert sites(sample(), "Copies", "twice") == [
        "InputStream.close",
        "InputStream.close#1",
        "InputStream.read",
        "InputStream.mark",
        "InputStream.read#1",
        "InputStream.reset",
        "InputStream.skip",
        "InputStream.skip#1",
    ]


def test_throws_of_new_exceptions_are_sites():
    program = sample()
    for function, found in {
        "underCondition": ["throw IOException"],
        "byVariable": ["throw IOException"],
        "always": ["throw UnsupportedOperationException"],
        "bySwitch": ["throw IllegalArgumentException"],
        "inHandler": ["Object.wait", "throw IllegalStateException"],
        "thrownOn": [],
        "named(List,String[])": ["throw IllegalStateException"],
    }.items():
        assert sites(program, "Throws", function) == found


def test_a_throw_is_visited_where_the_nearest_condition_decides_about_it():
    program = sample()
    for function in ("underCondition", "byVariable", "bySwitch"):
        number = method(program, "Throws", function)
        [row] = [row for row in program.site_rows if row.method == number]
        [thrown] = program.method(number).throws
        deciding = program.method(number).blocks[thrown.block].conditions[-1]
        [place] = row.instructions
        condition = next(each for each in program.method(number).conditions if each.block == deciding)
        assert thrown.site == program.site_rows.index(row)
        assert place < thrown.instruction
        assert condition.line <= thrown.line
    always = next(row for row in program.site_rows if row.method == method(program, "Throws", "always"))
    assert always.instructions[0] < 5  # at the beginning


def test_sites_have_what_their_callees_declare():
    program = sample()
    declared = {
        str(site).rpartition("::")[2]: [program.type_name(each) for each in row.declared]
        for row, site in zip(program.site_rows, program.sites, strict=True)
    }
    assert declared["FileInputStream.<init>"] == ["java.io.FileNotFoundException"]
    assert declared["Object.wait"] == ["java.lang.InterruptedException"]
    assert declared["InputStream.mark"] == []
    assert declared["throw IOException"] == []


def test_what_cannot_fail_is_no_site():
    called_outside = {str(site).rpartition("::")[2].partition("#")[0] for site in sample().sites}
    assert not {each for each in called_outside if each.startswith(("String", "Log", "Queue", "AtomicBoolean"))}


def test_a_site_knows_file_and_line():
    site = next(site for site in sample().sites if site.function == "always")
    assert (site.path, site.line) == ("extracted/Throws.java", 25)


# Log statements


def test_templates_of_slf4j():
    assert texts(sample(), "slf4j") == [
        ("INFO", "plain", False, "extracted.Talk"),
        ("INFO", "one _ filled in", False, "extracted.Talk"),
        ("INFO", "kept _ and {}", False, "extracted.Talk"),
        ("WARN", "many _ _ _", True, "extracted.Talk"),
        ("ERROR", "with cause", True, "extracted.Talk"),
        ("INFO", "other name", False, "audit"),
        ("INFO", "fluent _", True, "extracted.Talk"),
    ]


@pytest.mark.parametrize("options", [(), ("-XDstringConcat=inline",)])  # as javac of Java 9 does it, and of Java 8
def test_texts_that_are_put_together(options: tuple[str, ...]):
    assert [template for _, template, _, _ in texts(sample(*options), "concatenated")] == [
        "sum _ of _",
        "formatted _% of _\n",
        "final part of _ here",
        "by variable _",
        "built _ at last",
    ]


def test_of_a_text_that_is_chosen_what_all_have_counts_and_else_each_of_them():
    templates = [template for _, template, _, _ in texts(sample(), "chosen")]
    assert templates[0] == "became _er now"
    assert sorted(templates[1:]) == ["Ended, alas", "Started"]


def test_templates_of_other_loggers():
    talk = "extracted.Talk"
    assert texts(sample(), "others") == [
        ("WARN", "old _", False, talk),
        ("ERROR", "old failure", True, talk),
        ("FATAL", "old level", False, talk),
        ("INFO", "_commons {}", False, ""),  # a logger that somebody gave it: it may put something in front
        ("FATAL", "_commons failure", True, ""),
        ("SEVERE", "jul", False, talk),
        ("WARNING", "jul _ and _", False, talk),
        ("FINE", "jul lazily _", True, talk),
        ("INFO", "jul from _", False, talk),
        ("ERROR", "system _", False, "system"),
        ("", "printed _", False, ""),
        ("", "printed as _\n", False, ""),
        ("", "", True, ""),
    ]


def test_what_calls_a_wrapper_is_the_statement():
    program = sample()
    assert texts(program, "wrapped") == [
        ("INFO", "> said by wrapper _", False, "extracted.Talk"),
        ("DEBUG", "said as _", False, "extracted.Talk"),
        ("ERROR", "complained", True, "extracted.Talk"),
    ]
    for name in ("say", "sayf", "complain", "info"):
        assert texts(program, name, "Talk$Own") == []


def test_the_body_of_a_lambda_gives_the_text():
    assert texts(sample(), "lazily") == [("INFO", "_lazily _", False, "")]


def test_nested_classes_use_the_logger_of_the_outer_one():
    assert texts(sample(), "run", "Talk$1") == [("INFO", "nested", False, "extracted.Talk")]


# Values and control


def test_code_that_is_handed_on_is_told():
    program = sample()
    number = method(program, "Work", "handOn")
    handed = [
        (*called(program, number, (each.call,)), each.kind, program.strings[each.what])
        for each in program.method(number).handed
    ]
    assert handed == [
        ("execute", 0, "extracted.Work.lambda$handOn$0 ()V"),
        ("execute", 0, "extracted.Work.step ()V"),
        ("<init>", 1, "extracted.Work"),
        ("submit", 1, "extracted.Work$Task"),
    ]


def test_conditions_know_what_they_test():
    program = sample()
    step = method(program, "Work", "step")
    assert [fields(program, each.fields) for each in program.method(step).conditions] == [["queue"]]
    tells = method(program, "Work", "tells")
    more, chosen, result = program.method(tells).conditions
    assert (fields(program, more.fields), more.parameters) == (["failures"], (0,))
    assert len(chosen.chosen) == 2
    assert called(program, tells, result.calls) == ["measured"]


def test_writes_know_where_the_value_comes_from():
    program = sample()
    step = method(program, "Work", "step")
    position, failures = program.method(step).writes
    assert fields(program, (position.field, *position.fields)) == ["position", "position"]
    assert called(program, step, position.calls) == ["measured"]
    assert fields(program, (failures.field,)) == ["failures"]
    tells = method(program, "Work", "tells")
    assert [fields(program, (each.field,)) for each in program.method(tells).writes] == [["stopped"]]


def test_returns_know_constants_and_where_they_were_chosen():
    program = sample()
    tells = program.method(method(program, "Work", "tells"))
    assert sorted(each.constant for each in tells.returns if isinstance(each.constant, int)) == [0, 1, 1]
    measured = method(program, "Work", "measured")
    assert called(program, measured, program.method(measured).returns[0].calls) == ["getRuntime", "freeMemory"]


def test_handlers_are_known_by_what_they_alone_lead_to():
    program = sample()
    nested = program.method(method(program, "Work", "nested"))
    outer, inner = [each.handler for each in nested.tries]
    [write] = nested.writes
    assert nested.blocks[write.block].handlers == (inner,)
    close = next(call for call in nested.calls if program.strings[call.name] == "close")
    assert nested.blocks[close.block].handlers == (outer,)


def test_what_is_thrown_on_is_known_by_its_handler():
    program = sample()
    thrown_on = program.method(method(program, "Throws", "thrownOn"))
    [row] = thrown_on.throws
    assert row.handlers == (thrown_on.tries[0].handler,)
    chosen = program.method(method(program, "Throws", "chosen")).throws[0]
    assert [program.type_name(each) for each in chosen.types] == [
        "java.io.IOException",
        "java.lang.InterruptedException",
    ]


def test_classes_outside_are_known_with_all_above_them():
    program = sample()
    names = {program.type_name(row.name): row for row in program.classes}
    assert names["java.io.FileNotFoundException"].kind == 0
    assert program.type_name(names["java.io.FileNotFoundException"].parent) == "java.io.IOException"
    assert "java.lang.Throwable" in names
    assert "(String)" in program.constructors["java.io.IOException"]


# What is asked for


def test_drivers_are_read_without_sites(jar: Path):
    classes = extracted_classes()
    case = case_of(["extracted"], [classes, log_apis()], drivers=("extracted.Copies",))
    program = read_tables(extract(case))
    assert not [site for site in program.sites if site.module == "extracted.Copies"]
    assert {row.kind for row in program.classes if program.type_name(row.name) == "extracted.Copies"} == {1}
    assert [site for site in program.sites if site.module == "extracted.Throws"]


def test_jars_of_many_kinds_are_read(tmp_path: Path, jar: Path):
    """With classes for later JVMs, packed as Spring Boot does, with something that is no class."""
    classes = extracted_classes()
    packed = tmp_path / "app.jar"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMulti-Release: true\n")
        archive.write(classes / "extracted/Throws.class", "BOOT-INF/classes/extracted/Throws.class")
        archive.writestr("extracted/Copies.class", b"no class file")
        archive.write(classes / "extracted/Copies.class", "META-INF/versions/9/extracted/Copies.class")
        archive.writestr("META-INF/versions/99/extracted/Copies.class", b"for a JVM that is not there yet")
        archive.writestr("extracted/Broken.class", b"\xca\xfe\xba\xbe nonsense")
        newer = bytearray((classes / "extracted/Work.class").read_bytes())
        newer[6:8] = (999).to_bytes(2, "big")
        archive.writestr("extracted/Newer.class", bytes(newer))
    program = read_tables(extract(case_of([str(packed)], [packed])))
    assert {site.module for site in program.sites} == {"extracted.Copies", "extracted.Throws"}
    assert [skipped.partition(":")[0] for skipped in program.skipped] == [
        "extracted/Broken.class",
        "extracted/Newer.class",
    ]
    assert "999" in program.skipped[1]


def test_what_is_not_there_is_told_with_what_is(jar: Path):
    class_path = [extracted_classes(), log_apis()]
    with pytest.raises(UsageError, match=r"`org\.slf5j` is neither") as error:
        extract(case_of(["org.slf5j"], class_path))
    assert "`org.slf4j`" in error.value.hint
    with pytest.raises(UsageError, match=r"There is no `nowhere\.jar`"):
        extract(case_of(["nowhere.jar"], class_path))
    with pytest.raises(UsageError, match="is no jar"):
        extract(case_of([__file__], class_path))
    with pytest.raises(InputError, match="`no-java` is no program"):
        extract(case_of(["extracted"], class_path, java="no-java"))


def test_a_java_that_is_too_old_is_refused(tmp_path: Path, jar: Path):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n")
    java.chmod(0o755)
    with pytest.raises(UsageError, match="Java 8"):
        extract(case_of(["extracted"], [tmp_path], java=str(java)))


def test_whoever_watches_can_stop_it(jar: Path):
    class EnoughError(Exception):
        pass

    seen = []

    def progress(done: int, total: int, what: str) -> None:
        seen.append((done, total, what))
        raise EnoughError

    classes = extracted_classes()
    with pytest.raises(EnoughError):
        extract(case_of([str(classes)], [classes]), progress)
    assert seen == [(0, len(list(classes.rglob("*.class"))), "classes")]


def test_what_was_read_is_kept_until_it_changes(tmp_path: Path, jar: Path):
    classes = tmp_path / "classes"
    shutil.copytree(extracted_classes(), classes)
    cache = tmp_path / "cache"
    case = case_of([str(classes)], [classes])
    fresh = extract(case, cache=cache)
    [kept] = cache.iterdir()
    os.utime(kept, (1, 1))
    assert extract(case, cache=cache) == fresh
    assert kept.stat().st_mtime > 1  # it was of use
    (classes / "extracted/Copies.class").unlink()
    assert extract(case, cache=cache) != fresh
    assert len(list(cache.iterdir())) == 2


def test_when_java_fails_its_words_are_told(tmp_path: Path, jar: Path):
    java = tmp_path / "java"
    java.write_text(
        "#!/bin/sh\necho 'openjdk version \"17\"' >&2\n[ $1 = -version ] || { echo 'no memory' >&2; exit 9; }\n"
    )
    java.chmod(0o755)
    with pytest.raises(CutsetError, match="openjdk"):
        extract(case_of(["extracted"], [tmp_path], java=str(java)))


def test_tables_are_json_lines():
    header, *methods = _sample_text().splitlines()
    assert json.loads(header)["lines"] > 100
    assert all(json.loads(line)["c"] >= 0 for line in methods)


def _sample_text() -> bytes:
    built_jar()
    classes = extracted_classes()
    return extract(case_of([str(classes)], [classes, log_apis()]))


def test_names_of_sites_are_unique():
    found: list[Site] = sample().sites
    assert len({(site.module, site.function, site.expression, site.ordinal) for site in found}) == len(found)
