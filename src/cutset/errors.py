"""What can go wrong, as the user is told of it.

    CutsetError
    ├── UsageError        the command line or a configuration file is wrong       exit 2
    ├── InputError        a file, payload or string is malformed                  exit 2
    ├── TargetError       a server or process that we need is not there           exit 3
    ├── PlanError         a cut cannot be expressed or does not fit its carrier    exit 2
    ├── HaltedError       a guard stopped the campaign                            exit 4
    └── RefutedError      what a campaign claims does not follow from its record  exit 5

A message states what was wrong and where, with the offending value; the hint says what to do next.
Only `cutset.cli` prints errors and picks exit codes.
"""


class CutsetError(Exception):
    exit_code = 3

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(CutsetError):
    exit_code = 2


class InputError(CutsetError):
    exit_code = 2


class TargetError(CutsetError):
    exit_code = 3


class PlanError(CutsetError):
    exit_code = 2


class HaltedError(CutsetError):
    exit_code = 4


class RefutedError(CutsetError):
    exit_code = 5
