"""Values in messages: what of a message differs between runs that do the same, and what does not (ANDURIL §5.1.1)."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

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
    | \b\d+(?:\.\d+)+(?:[-+~]\w[\w.]*)+                                      # version
    | (?<=\$\$)Lambda(?:\$\d+)?/\w+(?:@\w+)?                                # class that a JVM makes
    | (?<![\w*])[-+](?=[.]?\d)                                              # sign
    | \b[^\W\d]*\d\w*                                                       # number, size, identifier
    """,
    re.VERBOSE,
)
_REPEATED = re.compile(r"\*(?:[\s,;:./+_%-]*\*)+")


@lru_cache(maxsize=1 << 16)  # runs say the same over and over
def sanitise(message: str) -> str:
    """The message with one `*` for each part that may differ from run to run, or for a row of such parts."""
    return _REPEATED.sub("*", _VARIABLE.sub("*", message))


# What no run has in common with another but by chance, whatever happens in it.
_FLEETING = re.compile(
    r"""
    \b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b                 # UUID
    | (?<=\$\$)Lambda(?:\$\d+)?/\w+(?:@\w+)?                                # class that a JVM makes, and its object
    | \b0x[0-9A-Fa-f]{1,32}\b                                              # object
    | \.\.\.[x0-9A-Fa-f]{1,32}\b                                            # one whose text was shortened
    | \b\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?   # time
    | \b\d\d?:\d\d(?::\d\d)?(?:[.,]\d{1,9})?\b
    | \b\d{1,18}(?:\.\d{1,18})?[ ]?(?:[nuµm]?s|secs?|seconds?|mins?|minutes?|h|hours?)\b   # duration
    | \b\d{1,18}\.\d{1,18}\b(?!\.)                                         # what is measured
    | (?<=[\w.\]]):\d{4,5}\b|(?<=',[ ])\d{4,5}\b                            # port
    | (?i:\b(?:p?pid|tid|fd|port|thread|task)[ =:#-]{1,3}\d{1,18}\b)
    | \b\w{0,40}(?:Thread|Task|Worker|Process|Executor)-\d{1,9}(?:_\d{1,9})?\b
    | \b\d{9,}\b                                                           # time, or identity of an object
    | \b(?=[0-9a-f]{0,64}\d)(?=[0-9a-f]{0,64}[a-f])[0-9a-f]{8,}\b            # digest
    | (?<![\w/.~])(?:[A-Za-z]:[\\/]|~?/)(?:[^\s/\\"'<>:,;()]{1,255}[/\\])*(?:tmp\w{4,})?   # folders, temporary files
    """,
    re.VERBOSE,
)


def lasting(message: str) -> str:
    """The message with one `*` for each part that is another in each run; what tells one victim from another stays."""
    return _FLEETING.sub("*", message)


# What good runs may agree on by chance, or because they are of one machine: folders, and who of several did it.
_CIRCUMSTANCES = re.compile(
    r"""
    (?<![\w/.~])(?:[A-Za-z]:[\\/]|~?/)(?:[^\s/\\"'<>:,;()]{1,255}[/\\])+
    | \b\w{0,40}(?:Thread|Task|Worker|Process|Executor)-\d{1,9}(?:_\d{1,9})?\b
    """,
    re.VERBOSE,
)


def steady_values(good: Sequence[Mapping[str, set[str]]]) -> Callable[[str, str], str | None]:
    """Of a message, by its key and text: the part that should be the same in each run; None if it may be any.

    `good` are the texts of good runs. Where they agree on all of a text, all of it should be the same, but for folders
    and names of workers; where they agree on all that lasts, or do not have the message, that.
    """
    usual = set().union(*good)
    exact = {key for key in usual if all(texts.get(key) == good[0].get(key) for texts in good)}
    masked = [{key: set(map(lasting, found)) for key, found in texts.items()} for texts in good]
    chance = {key for key in usual if any(texts.get(key) != masked[0].get(key) for texts in masked)}

    def steady(key: str, text: str) -> str | None:
        return _CIRCUMSTANCES.sub("*", text) if key in exact else None if key in chance else lasting(text)

    return steady


_WORD = re.compile(r"""[^\s"'`=,;:()\[\]{}<>]+(?::[^\s"'`=,;:()\[\]{}<>]+)*""")


def other_words(
    ours: Mapping[str, set[str]], theirs: Mapping[str, set[str]], plain: Collection[str]
) -> Callable[[str], str]:
    """Puts our words into texts of another machine: the version of our operating system, our user.

    Learned from messages that each machine says with one text, of those in which no failure can show (`plain`, keys).
    Numbers are no names, nor is what both say somewhere.
    """
    we_say, they_say = ({word for texts in said.values() for word in _words(*texts)} for said in (ours, theirs))
    found: defaultdict[str, set[str]] = defaultdict(set)
    for key in theirs.keys() & ours.keys() & set(plain):
        their_words, our_words = _words(*theirs[key]), _words(*ours[key])
        if len(theirs[key]) == len(ours[key]) == 1 and len(their_words) == len(our_words):
            for their_word, our_word in zip(their_words, our_words, strict=True):
                found[their_word].add(our_word)
    names = {
        word: our_word
        for word, (our_word, *others) in found.items()
        if not others and word not in we_say and our_word not in they_say and not (word + our_word).isdecimal()
    }
    return lambda text: _WORD.sub(lambda word: names.get(word[0], word[0]), text) if names else text


def _words(*texts: str) -> list[str]:
    return [word for text in texts for word in _WORD.findall(text)]
