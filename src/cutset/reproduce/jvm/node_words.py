"""What a node of the causal graph is called in a report: a line of a Java program, in the words of its source."""

from cutset.model.reproduction.result import CausalKind
from cutset.reproduce.jvm.code_index import JvmCode, JvmNode
from cutset.reproduce.jvm.hierarchy import ANYTHING
from cutset.reproduce.jvm.table_rows import JvmCall
from cutset.reproduce.jvm.tables import FILLED_IN, simple

_LONGEST = 60  # characters of a message


def words_of(code: JvmCode, key: JvmNode) -> tuple[int, str]:
    """Its line, and the text."""
    body, function = code.body(key.method), code.program.functions[key.method]
    match key.kind:
        case CausalKind.INVOCATION:
            return function.line, function.context
        case CausalKind.CONDITION:
            return _condition(code, key)
        case CausalKind.HANDLER:
            return body.method.blocks[key.row].line, _handler(code, key)
        case CausalKind.LOCATION:
            return _location(code, key)
    if key.row in body.throws:
        throw = body.throws[key.row]
        types = " or ".join(simple(code.program.strings[each]) for each in throw.types)
        return throw.line, f"throw {types}".strip()
    return body.calls[key.row].line, _called(code, body.calls[key.row])


def _condition(code: JvmCode, key: JvmNode) -> tuple[int, str]:
    body, strings = code.body(key.method), code.program.strings
    conditions = body.conditions.get(key.row, ())
    names = [strings[each].rpartition(".")[2] for row in conditions for each in row.fields]
    names += [f"{strings[body.calls[each].name]}()" for row in conditions for each in row.calls if each in body.calls]
    line = conditions[0].line if conditions else body.method.blocks[key.row].line
    return line, f"if (…) on {', '.join(dict.fromkeys(names))}" if names else "if (…)"


def _handler(code: JvmCode, key: JvmNode) -> str:
    tries = code.body(key.method).method.tries
    types = dict.fromkeys(each.type for each in tries if each.handler == key.row)
    if ANYTHING in types:
        return "finally"
    return f"catch ({' | '.join(simple(code.program.strings[each]) for each in types)})"


def _location(code: JvmCode, key: JvmNode) -> tuple[int, str]:
    body, strings = code.body(key.method), code.program.strings
    line, text = body.method.blocks[key.row].line, code.program.functions[key.method].context
    if key.write:
        write = body.writes[key.at]
        owner, _, name = strings[write.field].rpartition(".")
        line, text = write.line, f"{simple(owner)}.{name} = …"
    elif key.at in body.calls:
        line, text = body.calls[key.at].line, _called(code, body.calls[key.at])
    elif key.at in body.throws:
        line, text = body.throws[key.at].line, "throw"
    elif key.at < ANYTHING:
        row = body.method.returns[-2 - key.at]
        line, text = row.line, "return" if row.constant is None else f"return {row.constant}"
    for log in body.method.logs:
        if log.instruction == key.at:
            template = strings[log.template].replace(FILLED_IN, "…")
            line, text = log.line, f'{strings[log.level] or "print"}("{template[:_LONGEST]}")'
    for made in body.method.made:
        if made.instruction == key.at:
            text = f"new {simple(strings[made.type])}"
    return line, text


def _called(code: JvmCode, call: JvmCall) -> str:
    return f"{simple(code.program.strings[call.owner])}.{code.program.strings[call.name]}"
