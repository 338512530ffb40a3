"""A request that a source of requests tells of, and what to know before it is sent."""

from dataclasses import dataclass

from cutset.model.request import Request


@dataclass(frozen=True, slots=True)
class ProposedRequest:
    request: Request
    about: str = ""  # what the source says it is
    doubt: str = ""  # what may be wrong with it: a value that was guessed
    held_back: str = ""  # why it is not sent unless somebody asks for it by name
