"""The inner end of a tunnel out of a cluster: an internal command, of the pod that `cutset install --marking` makes."""

import asyncio
from typing import Annotated

import typer

from cutset.cli.run import stopped_by_signals
from cutset.receive.tunnel import serve_tunnel


def tunnel_command(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where gateways ask; 0 takes any free one")] = 9000,
    private_port: Annotated[int, typer.Option(min=0, max=65535, help="Of 127.0.0.1, for the outer end")] = 4321,
) -> None:
    """Hand on what connects to a port to whoever holds the other end of the tunnel, by a port-forward.

    Nobody types this: the pod that `cutset install --marking` makes runs it.
    """
    asyncio.run(_serve(port, private_port))


async def _serve(port: int, private_port: int) -> None:
    ended = stopped_by_signals()
    async with serve_tunnel(port, private_port) as (public, private):
        print(f"Handing on what connects to port {public} to the holder at 127.0.0.1:{private}", flush=True)
        await ended.wait()
