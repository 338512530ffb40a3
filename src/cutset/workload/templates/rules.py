"""What a person says about variables: `variables.yaml`, in the recording's folder or named with `--variables`.

    register:
      - {request: POST /signup, place: body/name, as: fresh}            # a new value of the same shape
      - {request: POST /slots,  place: body/from, as: time}             # moves with the clock
      - {request: POST /login,  place: body/password, as: value, from: SHOP_PASSWORD}       # an environment variable
      - {request: GET /me,      place: header/x-user, as: chained, from: POST /login body/user/id}
    deregister:
      - {request: "*", place: body/reference}                           # a constant, whatever it looks like

Requests and places are named as `cutset record show` prints them; `*` as a request means all.
"""

from dataclasses import dataclass
from pathlib import Path

import yaml

from cutset.errors import InputError
from cutset.manifests.bounded_yaml import BoundedLoader

RULES_FILE = "variables.yaml"  # in the recording's folder
KINDS = ("fresh", "time", "value", "chained", "constant")


@dataclass(frozen=True, slots=True)
class Rule:
    request: str
    place: str
    kind: str
    source: str = ""  # of a value its environment variable; of a chained one the request and the place in its answer


Rules = tuple[Rule, ...]


def rules_for(folder: Path, named: Path | None = None) -> Rules:
    """Those of the recording in this folder, unless another file is named."""
    if named is None and not (folder / RULES_FILE).exists():
        return ()
    return read_rules(named or folder / RULES_FILE)


def read_rules(path: Path) -> Rules:
    try:
        found = yaml.load(path.read_text(), BoundedLoader)  # noqa: S506 -- a SafeLoader
    except OSError as error:
        raise InputError(f"Cannot read `{path}`: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"`{path}` is not YAML: {' '.join(str(error).split())}") from None
    if found is None:
        return ()
    if not isinstance(found, dict) or not set(found) <= {"register", "deregister"}:
        raise InputError(f"`{path}`: expected the lists `register` and `deregister`, found {_shown(found)}")
    return tuple(
        _rule(each, registers=section == "register", where=f"`{path}`, {section}, entry {number}")
        for section, entries in found.items()
        for number, each in enumerate(_list(entries, f"`{path}`, {section}"), start=1)
    )


def find_rule(rules: Rules, request: str, place: str) -> Rule | None:
    return next((rule for rule in rules if rule.place == place and rule.request in {"*", request}), None)


def _list(entries: object, where: str) -> list[object]:
    if not isinstance(entries, list):
        raise InputError(f"{where}: expected a list, found {_shown(entries)}")
    return entries


def _rule(entry: object, *, registers: bool, where: str) -> Rule:
    allowed = {"request", "place", "as", "from"} if registers else {"request", "place"}
    if not isinstance(entry, dict) or not set(entry) <= allowed or not {"request", "place"} <= set(entry):
        raise InputError(f"{where}: expected {', '.join(sorted(allowed))}, found {_shown(entry)}")
    kind = entry.get("as", "fresh") if registers else "constant"
    source = str(entry.get("from", ""))
    if kind not in KINDS:
        raise InputError(f"{where}: expected `as` to be one of {', '.join(KINDS)}, found `{kind}`")
    if (kind in {"value", "chained"}) != bool(source):
        raise InputError(f"{where}: `as: {kind}` {'needs' if not source else 'has no'} `from`")
    if kind == "chained" and len(source.split()) != 3:
        raise InputError(f"{where}: expected `from` as in `POST /login body/token`, found `{source}`")
    return Rule(str(entry["request"]), str(entry["place"]), kind, source)


def _shown(value: object) -> str:
    text = str(value)
    return f"`{text if len(text) <= 60 else text[:57] + '…'}`"
