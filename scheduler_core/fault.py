"""What is reported when the core itself fails? What failed, where, and a reference for a report."""

from __future__ import annotations

from typing import NamedTuple

NOT_OURS = (MemoryError, OSError)
"""What a caller has to deal with: no memory left, or a callback that cannot write."""


class Fault(NamedTuple):
    """An exception that nobody expected.

    Attributes
    ----------
    reference : str
        The same wherever the same calls end in the same kind of exception.
    kind, says : str
        The exception.
    calls : list of str
        The functions of the core that led there, the innermost last.

    """

    reference: str
    kind: str
    says: str
    calls: list[str]

    @property
    def sentence(self) -> str:
        """Return what is reported of it."""
        return (
            f"Queuecast failed: this is a bug of Queuecast, please report it ({self.kind}, {self.reference})"
        )


def fault_of(error: Exception) -> Fault:
    """Return what there is to report of an exception; only that waits for the modules that tell."""
    import hashlib
    import traceback

    frames = [
        (frame.filename.replace("\\", "/").rpartition("scheduler_core/")[2], frame.lineno, frame.name)
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    kind = type(error).__name__
    names = [kind, *(f"{module} {name}" for module, _, name in frames)]
    reference = hashlib.sha256("\n".join(names).encode()).hexdigest()[:8]
    return Fault(reference, kind, str(error), [f"{module}:{line} {name}" for module, line, name in frames])
