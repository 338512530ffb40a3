"""Values in messages: what of a message differs between runs that do the same, and what does not (ANDURIL §5.1.1)."""

import re

# What differs between two runs that do the same. One placeholder for all, as what looks like a number in one run may
# look like a word in the next.
_VARIABLE = re.compile(
    r"""
    (?<!\w)(?:"(?:[^"\\\n]|\\.){0,300}"|'(?:[^'\\\n]|\\.){0,300}'|`[^`\n]{0,300}`)(?!\w)   # quoted
    | \b[A-Za-z][\w+.-]{0,15}://[^\s"'<>]+                                  # address
    | (?<![\w/.~])(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)[^\s"'<>:,;()\[\]{}]+      # path
    | \b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)*                                   # user at host
    | \b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b              # UUID: parts of it may have no digit
    | \b[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}\b                             # MAC
    | \b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?[ ](?=[\w ]{0,5}\d)      # of a time
    | \b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}[ ](?=\d)
    | (?:(?<=\d[ ])|(?<=\*[ ]))(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b
    | (?<![\w*])[-+](?=[.]?\d)                                              # sign
    | \b[^\W\d]*\d\w*                                                       # number, size, identifier
    """,
    re.VERBOSE,
)
_REPEATED = re.compile(r"\*(?:[\s,;:./+_%-]*\*)+")


def sanitise(message: str) -> str:
    """The message with one `*` for each part that may differ from run to run, or for a row of such parts."""
    return _REPEATED.sub("*", _VARIABLE.sub("*", message))
