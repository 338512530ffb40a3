"""`cutset agent`: run a service with the agent inside."""

import base64
import os
import shutil
from collections.abc import Mapping
from typing import Annotated

import typer

from cutset.config.key import KEY_VARIABLE, signing_key
from cutset.errors import UsageError
from cutset.inject.signing import is_private_key, public_key_of
from cutset_agent.ecdsa import public_verifier
from cutset_agent.launch import agent_environment

agent_app = typer.Typer(no_args_is_help=True, help="Run Python services with the agent inside.")


@agent_app.callback()
def _agent() -> None:
    """Keeps `run` a subcommand while it is the only one."""


@agent_app.command("run")
def run_command(
    command: Annotated[list[str], typer.Argument(help="Any Python command.", metavar="COMMAND")],
    service: Annotated[str, typer.Option("--service", help="Its name in plans and reports.")] = "",
    environment: Annotated[
        str, typer.Option("--environment", help="Only plans signed for this environment count; by default `local`.")
    ] = "",
    collector: Annotated[str, typer.Option("--collector", help="OTLP/HTTP URL for the agent's spans.")] = "",
    record: Annotated[str, typer.Option("--record", help="URL of `cutset record`, to record all requests.")] = "",
    allow_uncontained: Annotated[
        bool,
        typer.Option(
            "--allow-uncontained", help="Agree to faults that may reach requests without a plan: see `cutset faults`."
        ),
    ] = False,
) -> None:
    """Run a command with the agent in it and in all Python processes that it starts.

    The agent hooks the libraries that the service uses, and acts only on requests whose plan is signed with the key in
    `CUTSET_KEY`, or with the private key to that in `CUTSET_PUBLIC_KEY`: then the service holds no secret. The command
    takes this process's place: signals and the exit code are its own.

    Example: `cutset agent run --service orders --collector http://127.0.0.1:4318 -- uvicorn orders:app`
    """
    program = shutil.which(command[0])
    if program is None:
        raise UsageError(f"`{command[0]}` is no command that can be run", hint="Check its name, or give its path")
    environ = agent_environment(
        _with_key_to_verify(os.environ),
        service=service,
        environment=environment,
        collector=collector,
        record=record,
        uncontained=allow_uncontained,
    )
    os.execve(program, command, environ)  # noqa: S606 -- no shell


def _with_key_to_verify(environ: Mapping[str, str]) -> dict[str, str]:
    """Without a key the agent would do nothing, silently. Of a private one the service gets the public part alone."""
    if environ.get("CUTSET_PUBLIC_KEY"):
        if public_verifier(environ["CUTSET_PUBLIC_KEY"]) is None:
            raise UsageError(
                "`CUTSET_PUBLIC_KEY` holds no public key of the curve P-256, as PEM or as DER in base64",
                hint="`openssl ec -in key.pem -pubout` makes it from the private key",
            )
        return {name: value for name, value in environ.items() if name != KEY_VARIABLE}
    key = signing_key(environ)
    if not is_private_key(key):
        return dict(environ)
    public = base64.b64encode(public_key_of(key)).decode()
    return {**{name: value for name, value in environ.items() if name != KEY_VARIABLE}, "CUTSET_PUBLIC_KEY": public}
