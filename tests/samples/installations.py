"""What somebody might want to install, with a key of its own."""

from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cutset.inject.istio.marks import Installation

PUBLIC_KEY = (
    ec.derive_private_key(13, ec.SECP256R1()).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
)


def installation(**changes: Any) -> Installation:
    return Installation(**{"environment": "shop", "namespaces": ("shop",), "public_key": PUBLIC_KEY} | changes)
