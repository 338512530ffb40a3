"""Where marked requests come from: what users send anyway, or what we send ourselves."""

import asyncio
from typing import Protocol

from cutset.model.impact import ImpactWindow, Mark


class MarkedTraffic(Protocol):
    """Without a start nothing is marked. Whoever goes away without a stop leaves nothing behind that marks."""

    @property
    def marks(self) -> asyncio.Queue[Mark]:
        """Each as it is made, before its request goes on."""

    async def start(self, window: ImpactWindow, share: float) -> None:
        """From now on this share of requests (0 to 1) is marked with the fault, and as many again as control.

        Before the fault, all of both are control. A later start takes the place of an earlier one, without a gap.
        """

    async def stop(self) -> int:
        """Marks nothing any more: no fault is given after this returns.

        Returns how many requests were asked about, or sent, since the last stop. Again and without a start, too: 0.
        """
