"""Encryption, with the installation's secret, of uploaded files that wait in the database for a worker."""

import os
import zlib
from collections.abc import Iterable, Iterator

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from django.utils.crypto import salted_hmac

_NONCE = 16


def sealed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces compressed and encrypted."""
    nonce = os.urandom(_NONCE)
    packer, cipher = zlib.compressobj(6), _cipher(nonce).encryptor()
    yield nonce
    for piece in pieces:
        yield cipher.update(packer.compress(piece))
    yield cipher.update(packer.flush()) + cipher.finalize()


def opened(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the decrypted pieces; with a different secret this raises zlib.error."""
    unpacker, head = zlib.decompressobj(), b""
    cipher: CipherContext | None = None
    for piece in pieces:
        if cipher is None:
            head += piece
            if len(head) < _NONCE:
                continue
            cipher, piece = _cipher(head[:_NONCE]).decryptor(), head[_NONCE:]
        yield unpacker.decompress(cipher.update(piece))
    yield unpacker.flush()


def _cipher(nonce: bytes) -> Cipher[CTR]:
    key = salted_hmac("planner.engine.sealing", "files", algorithm="sha256").digest()
    return Cipher(AES(key), CTR(nonce))
