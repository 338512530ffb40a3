"""Names and numbers in pictures: escaped, shortened, and measured without knowing the font."""

from html import escape

TOOLTIP_LETTERS = 300


def escaped(text: str) -> str:
    """What XML forbids, and what would turn round or hide the letters after it, becomes visible."""
    return escape("".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text))


def shortened(text: str, letters: int) -> str:
    """Both ends of a name tell: its system, and its part of it."""
    if len(text) <= letters:
        return text
    head = letters // 2
    return f"{text[:head]}…{text[len(text) - (letters - head - 1) :]}"


def text_width(text: str) -> float:
    """In sizes of the font, rather too wide than too narrow: which font there is, nobody knows."""
    return sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if letter in "iljtfr.,:;|!'()[]/ -":
        return 0.4
    if letter in "mwMW@%…" or ord(letter) > 0x2E80:
        return 1.0
    return 0.7 if letter.isupper() else 0.65 if letter.isdecimal() else 0.6


def tooltip(*lines: str) -> str:
    return "\n".join(escaped(shortened(line, TOOLTIP_LETTERS)) for line in lines)


def calls_in_words(calls: int, failures: int, *, exact: bool = False) -> str:
    number = f"{calls:,}" if exact else amount(calls)
    share = share_in_words(failures, max(calls, failures, 1))
    return f"{number} call{'' if calls == 1 else 's'}{f', {share} failed' if failures else ''}"


def share_in_words(part: int, whole: int) -> str:
    """`58 %`; nothing that is less than all is said to be all."""
    percent = 100 * part / whole
    if 99.5 <= percent < 100:
        return f"{min(percent, 99.99):.4g} %"
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %" if percent >= 0.01 else "<0.01 %"


def amount(number: int) -> str:
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * size:
            return f"{number / size:.3g}{unit}"
    return str(number)


def classes(*names: str) -> str:
    return f'class="{" ".join(filter(None, names))}"'
