"""`python -m checks`: prints what is wrong, one line each, and exits with 1.

`--shrink` strikes what is settled off the lists.
"""

import sys
from pathlib import Path

from checks.check import EXCEPTIONS, Check, run_check, shrink_list
from checks.cli_imports import cli_imports
from checks.mirror import stray_tests, untested_files
from checks.type_names import doubled_type_names

CHECKS = (
    Check("type_names", doubled_type_names, "one meaning per public type name: rename the more special one"),
    Check("untested_files", untested_files, "give it a test file at the mirrored path"),
    Check("stray_tests", stray_tests, "move it to where its source file is"),
    Check("cli_imports", cli_imports, "use cutset.app: only tests/cutset/cli may import cutset.cli"),
)


def main(arguments: list[str], root: Path = EXCEPTIONS.parent.parent, exceptions: Path = EXCEPTIONS) -> int:
    wrong = False
    for check in CHECKS:
        result = run_check(check, root, exceptions)
        for message in result.new.values():
            print(f"{check.name}: {message}\n  {check.remedy}")
        if "--shrink" in arguments and result.settled:
            shrink_list(result, exceptions)
        for name in () if "--shrink" in arguments else result.settled:
            print(f"{check.name}: {name} is settled; strike it off the list: python -m checks --shrink")
        wrong |= bool(result.new) or bool(result.settled and "--shrink" not in arguments)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
