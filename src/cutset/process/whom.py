"""Who runs this, and where: for others who see what is going on and want to know whom to ask."""

import getpass
import os
import socket


def user_at_host() -> str:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container whose user has no name
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}"
