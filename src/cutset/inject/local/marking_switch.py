"""Tells a running edge about which share of the requests it asks for a mark, through Envoy's admin page.

It is the second switch, and the coarser one: whoever is asked decides about each mark anew. Nothing of it outlives
Envoy, which begins with nobody.
"""

import hashlib
import json
from collections.abc import Mapping
from urllib.parse import quote

import aiohttp
from yarl import URL

from cutset.errors import TargetError, UsageError
from cutset.inject.local.marking import BAND_PREFIX, MARK_KEY, MARKED, MARKER_CLUSTER, MILLION

ADMIN_SECONDS = 3.0  # a running Envoy answers in milliseconds
_EVERYBODY: Mapping[str, object] = {"numerator": MILLION, "denominator": "MILLION"}


async def set_share(admin_url: str, share: float, *, salt: str = "") -> None:
    """From now on this share of requests, or of users, is asked about for the fault, and as much again for the control.

    Where users are told apart, `salt` chooses whom: with the same, whoever was in a smaller share is in a larger one.
    Raises CutsetError, and then nothing is different, or Envoy is gone.
    """
    if not 0 <= share <= 0.5:
        raise UsageError(
            f"Expected a share from 0 to 50 %, found {share:%}", hint="As many requests again are the control"
        )
    runtime = await _runtime(admin_url)
    told = _told(runtime, share, salt)
    query = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in told.items())
    await _ask(admin_url, "POST", f"/runtime_modify?{query}")
    runtime = await _runtime(admin_url)
    refused = [key for key, value in told.items() if value and runtime.get(key) != value]
    if refused or abs(_asked(runtime) - 2 * share) > 1e-5:
        raise TargetError(
            f"The mesh at {admin_url} was told to ask about {2 * share:.4%} and asks about {_asked(runtime):.4%}",
            hint="Somebody else may be changing it: see `cutset status`",
        )


async def share_now(admin_url: str) -> float:
    """With the fault; as much again is control."""
    return _asked(await _runtime(admin_url)) / 2


async def is_heard(admin_url: str) -> bool:
    """Whether the edge knows somebody who answers, and would ask. It looks every half second."""
    name = f"cluster.{MARKER_CLUSTER}.membership_healthy"
    answer = json.loads(await _ask(admin_url, "GET", f"/stats?format=json&filter={quote(f'^{name}$')}"))
    return any(each.get("value") for each in answer["stats"] if each.get("name") == name)


def _told(runtime: Mapping[str, str], share: float, salt: str) -> dict[str, str]:
    """By runtime key; empty: as Envoy began, with nobody."""
    marked, rest = _bands(runtime)
    if not share:
        return dict.fromkeys((key for key in (MARK_KEY, marked, rest) if key), "")
    if not marked:
        return {MARK_KEY: _written({"numerator": round(2 * share * MILLION), "denominator": "MILLION"})}
    # A user's hash is taken modulo the sum of the weights: with another sum, the band holds others.
    total = MILLION + int.from_bytes(hashlib.blake2b(salt.encode(), digest_size=8).digest()) % MILLION
    weight = round(2 * share * total)
    return {MARK_KEY: _written(_EVERYBODY), marked: str(weight), rest: str(total - weight)}


def _asked(runtime: Mapping[str, str]) -> float:
    marked, rest = _bands(runtime)
    fraction = json.loads(runtime[MARK_KEY])
    asked = fraction["numerator"] / MILLION if isinstance(fraction, dict) else float(fraction) / 100
    if marked:
        weights = float(runtime[marked]), float(runtime[rest])
        asked *= weights[0] / sum(weights)
    return asked


def _bands(runtime: Mapping[str, str]) -> tuple[str, str]:
    """The keys of the weights of those who are in the band and of all others, if this edge has one."""
    keys = [key for key in runtime if key.startswith(BAND_PREFIX + ".")]
    marked = next((key for key in keys if key.startswith(f"{BAND_PREFIX}.{MARKED}")), "")
    return marked, next((key for key in keys if key != marked), "")


def _written(value: Mapping[str, object]) -> str:
    return json.dumps(value, separators=(",", ":"))  # Envoy would take blanks for a part of it


async def _runtime(admin_url: str) -> dict[str, str]:
    entries = json.loads(await _ask(admin_url, "GET", "/runtime?format=json"))["entries"]
    if MARK_KEY not in entries:
        raise UsageError(
            f"The mesh at {admin_url} has no edge that can mark requests",
            hint="Give the mesh an `entry`, and start it anew with this version of Cutset",
        )
    return {key: entry["final_value"] for key, entry in entries.items()}


async def _ask(admin_url: str, method: str, path: str) -> str:
    timeout = aiohttp.ClientTimeout(total=ADMIN_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=False) as session,
            session.request(method, URL(admin_url + path, encoded=True)) as answer,
        ):
            text = await answer.text()
            if answer.status == 200:
                return text
            problem = f"{answer.status} {text.strip()[:200]}"
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        problem = str(error) or type(error).__name__
    raise TargetError(
        f"The admin page of the mesh at {admin_url} does not answer: {problem}",
        hint="Is the mesh running? Start it with `cutset mesh up`",
    )
