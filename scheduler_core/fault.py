"""Faults: reports of bugs in the core, with a reference."""

from __future__ import annotations

from typing import NamedTuple

NOT_OURS = (MemoryError, OSError)
"""Exceptions that callers must handle: no memory left, or a callback that cannot write."""


class Fault(NamedTuple):
    """An unexpected exception.

    Attributes
    ----------
    reference : str
        Equal for equal calls that end with an exception of the same type.
    kind, says : str
        The type and the text of the exception.
    calls : list of str
        The functions of the core that led there, the innermost last.

    """

    reference: str
    kind: str
    says: str
    calls: list[str]

    @property
    def sentence(self) -> str:
        """Return the report in one sentence."""
        return (
            f"Queuecast failed: this is a bug of Queuecast, please report it ({self.kind}, {self.reference})"
        )


def fault_of(error: Exception) -> Fault:
    """Return the fault of an exception; imports the modules for tracebacks only when called."""
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
