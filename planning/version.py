"""The version of the engine, which depends on its sources, so that every change of the core changes it."""

import hashlib
from pathlib import Path

import numpy

import scheduler_core.prepared

RELEASE = "1.15.1"
"""The newest release of Volcano that the core implements."""


def engine_version(package: Path) -> str:
    """Return the release, and a hash of every source file of the core and of numpy.

    Results stored under one version were computed by the same rules; versions never share results.
    """
    digest = hashlib.sha256(f"numpy {numpy.__version__}\0".encode())
    for source in sorted(package.rglob("*.py")):
        content = source.read_bytes()
        name = source.relative_to(package).as_posix()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return f"{RELEASE}+{digest.hexdigest()[:16]}"


ENGINE_VERSION = engine_version(Path(scheduler_core.__file__).parent)
"""Read once, with the core: a process that continues after an upgrade still computes by the old rules."""
