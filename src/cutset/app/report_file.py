"""Reports that travel: one file each, which its user names."""

from pathlib import Path

from cutset.errors import TargetError


def write_report(file: Path, text: str, *, hint: str = "Name another file", private: bool = False) -> None:
    """`private`: for its owner alone, as logs and source may hold secrets."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600 if private else 0o666)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TargetError(f"Cannot write `{file}`: {error.strerror}", hint=hint) from error
