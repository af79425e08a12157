"""The result of a document that could not be processed: the error, and the fault if it is a bug."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.errors import InputError, SchedulerHang, SchedulerPanic
from scheduler_core.fault import fault_of


def failed(answer: Mapping[str, Any], error: Exception) -> dict[str, Any]:
    """Return the result for a document that raised an exception: `error`, and `fault` if it is a bug.

    Parameters
    ----------
    answer : mapping
        The result so far: `name`, and `notes` if there are any.
    error : Exception
        Any exception but `fault.NOT_OURS`, which a caller has to handle.

    """
    stopped = {"name": answer["name"], "error": sentence_of(error), "notes": answer.get("notes", [])}
    if isinstance(error, (SchedulerPanic, SchedulerHang, InputError)):
        return stopped
    fault = fault_of(error)
    return {**stopped, "error": fault.sentence, "fault": fault._asdict()}


def sentence_of(error: Exception) -> str:
    """Return why a scenario cannot be simulated."""
    if isinstance(error, SchedulerPanic):
        return f"Volcano would crash here: {error}"
    if isinstance(error, SchedulerHang):
        return f"Volcano would hang here: {error}"
    return str(error)
