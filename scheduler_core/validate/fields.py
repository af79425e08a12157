"""Checks of single fields, which are combined into schemas of whole objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from scheduler_core.controllers.cron import schedule_of
from scheduler_core.errors import InputError
from scheduler_core.model.run_annotations import READERS, seconds_of, unreadable
from scheduler_core.model.timestamps import parse_duration, parse_time
from scheduler_core.problem import Place, Severity
from scheduler_core.quantity import QUANTITY_FIX, QuantityError, parse_quantity
from scheduler_core.release import RELEASES, release_named
from scheduler_core.resource_names import is_counted
from scheduler_core.validate.report import Report

Check = Callable[[Any, Place, Report], None]

INT32 = 2**31 - 1
INT64 = 2**63 - 1


def is_object(value: Any) -> bool:
    """Return whether a value is an object; fast for values parsed from JSON and YAML."""
    return type(value) is dict or isinstance(value, Mapping)


def anything(_value: Any, _place: Place, _report: Report) -> None:
    """Accept any value, because it is not read."""


def text(value: Any, place: Place, report: Report) -> None:
    """Accept a string."""
    if not isinstance(value, str):
        report.wrong_type(place, "a text", value)


def name(value: Any, place: Place, report: Report) -> None:
    """Accept the name of an object."""
    if not isinstance(value, str):
        report.wrong_type(place, "a text", value)
    elif not value:
        report.add("form.missing", "error", place, "is empty", fix="write the name")
    elif "/" in value or len(value) > 253:
        message = "is not a valid Kubernetes name (at most 253 characters, no slash)"
        report.add("name.illegal", "error", place, message, actual=value[:253], fix="choose another name")


def flag(value: Any, place: Place, report: Report) -> None:
    """Accept a boolean."""
    if not isinstance(value, bool):
        report.wrong_type(place, "true or false", value)


def whole(least: int = 0, most: int = INT32) -> Check:
    """Return a check that accepts whole numbers within bounds."""

    def check(value: Any, place: Place, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1:
            report.wrong_type(place, "a whole number", value)
        elif not least <= value <= most:
            limit = least if value < least else most
            bound = "at least" if value < least else "at most"
            message = f"is out of range: must be {bound} {limit}"
            report.add(
                "number.range",
                "error",
                place,
                message,
                actual=value,
                limit=limit,
                fix=f"{bound} {limit}",
            )

    return check


def number(least: float = 0.0, most: float = 1e9) -> Check:
    """Return a check that accepts numbers within bounds."""

    def check(value: Any, place: Place, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            report.wrong_type(place, "a number", value)
        elif not least <= value <= most:
            limit = most if value > most else least
            message = f"is out of range: use {least:g} to {most:g}"
            report.add(
                "number.range", "error", place, message, actual=value, limit=limit, fix="write another"
            )

    return check


def one_of(*words: str, severity: Severity = "error") -> Check:
    """Return a check that accepts one of these strings."""

    def check(value: Any, place: Place, report: Report) -> None:
        if not isinstance(value, str):
            report.wrong_type(place, "a text", value)
        elif value not in words:
            allowed = ", ".join(word for word in words if word)
            message = f"is {value[:40]!r}, not one of {allowed}"
            report.add("word.unknown", severity, place, message, actual=value, fix=f"write one of {allowed}")

    return check


def version(value: Any, place: Place, report: Report) -> None:
    """Accept a version of Volcano."""
    if not isinstance(value, str):
        report.wrong_type(place, "a text", value)
    elif release_named(value) is None:
        known = ", ".join(entry.name for entry in RELEASES)
        message = f"is {value[:40]!r}, which is not a Volcano version"
        report.add(
            "release.unreadable", "error", place, message, actual=value[:40], fix=f"write one of {known}"
        )


def time(value: Any, place: Place, report: Report) -> None:
    """Accept an RFC 3339 time."""
    if not isinstance(value, str):
        report.wrong_type(place, "a time", value)
        return
    try:
        if value:
            parse_time(value)
    except InputError as error:
        report.add("time.unreadable", "error", place, f": {error}", actual=value, fix="write a time in UTC")


def duration(value: Any, place: Place, report: Report) -> None:
    """Accept a Go duration."""
    if not isinstance(value, str) or parse_duration(value) is None:
        message = "is not a duration"
        report.add(
            "time.unreadable", "error", place, message, actual=value, fix="write one such as 10m or 1h30m"
        )


def cron(value: Any, place: Place, report: Report) -> None:
    """Accept the schedule of a CronJob."""
    if not isinstance(value, str):
        report.wrong_type(place, "a text", value)
        return
    try:
        schedule_of(value)
    except InputError as error:
        fix = "write five fields, such as 0 22 * * mon-fri, or @every 90m"
        report.add("time.unreadable", "error", place, f": {error}", actual=value, fix=fix)


def time_zone(value: Any, place: Place, report: Report) -> None:
    """Accept the time zone of a CronJob: only UTC, as Volcano's images have no database of time zones."""
    if not isinstance(value, str):
        report.wrong_type(place, "a text", value)
    elif value != "UTC":
        message = f": Volcano's webhook refuses {value!r}, because its image has no time zone but UTC"
        fix = "leave it out, and write the schedule in UTC"
        report.add("time.zone", "error", place, message, actual=value, fix=fix)


def quantity(value: Any, place: Place, report: Report, below_zero: Severity = "error") -> None:
    """Accept a quantity of at least 0; `below_zero` is the severity of a negative one."""
    try:
        amount = parse_quantity(value)
    except QuantityError as error:
        report.add(
            "quantity.unreadable",
            "error",
            place,
            f"cannot be read: {error}",
            actual=value,
            fix=QUANTITY_FIX,
        )
        return
    if amount < 0:
        message = "is below 0" if below_zero == "error" else "is below 0, and Volcano computes with it"
        report.add(
            "quantity.negative", below_zero, place, message, actual=value, limit=0, fix="write 0 or more"
        )
    elif amount >= INT64:
        message = "is larger than Kubernetes supports; it is cut to 9.2e18"
        report.add("quantity.huge", "warning", place, message, actual=value, limit=INT64, fix="write less")


def quotas(value: Any, place: Place, report: Report) -> None:
    """Accept a resource list of limits or reservations; negative amounts count, and cause a warning."""
    quantities(value, place, report, "warning")


def quantities(value: Any, place: Place, report: Report, below_zero: Severity = "error") -> None:
    """Accept a resource list."""
    if not is_object(value):
        report.wrong_type(place, "an object with amounts by resource", value)
        return
    for resource, amount in value.items():
        if type(amount) is str and (resource, amount) in report.sound_amounts:
            continue
        found = report.found()
        if amount is None:
            at, fix = (place, resource), "write an amount, or remove the resource"
            report.add("quantity.unreadable", "error", at, "is empty", fix=fix)
        else:
            quantity(amount, (place, resource), report, below_zero)
        if not isinstance(resource, str) or not is_counted(resource):
            _uncounted(resource, (place, resource), report)
        if type(amount) is str and found == report.found():
            report.sound_amounts.add((resource, amount))


def _uncounted(resource: Any, place: Place, report: Report) -> None:
    prefixes = ("count/", "requests.", "limits.")
    if not (isinstance(resource, str) and resource.startswith(prefixes)):
        message = "is not counted by the scheduler; extended resources have a domain, such as nvidia.com/gpu"
        report.add("quantity.uncounted", "remark", place, message, fix="use the full resource name")


def list_of(item: Check) -> Check:
    """Return a check that accepts a list of items."""

    def check(value: Any, place: Place, report: Report) -> None:
        if not isinstance(value, list):
            report.wrong_type(place, "a list", value)
            return
        for index, entry in enumerate(value):
            if entry is None:
                report.wrong_type((place, index), "an entry", entry)
            else:
                item(entry, (place, index), report)

    return check


def once(item: Check) -> Check:
    """Return a check that validates each object once.

    Sound, as a check reads only the value, which is never edited.
    """

    def check(value: Any, place: Place, report: Report) -> None:
        if report.is_sound(value):
            return
        found = report.found()
        item(value, place, report)
        if found == report.found():
            report.sound[id(value)] = value

    return check


def map_of(item: Check) -> Check:
    """Return a check that accepts an object with arbitrary keys."""

    def check(value: Any, place: Place, report: Report) -> None:
        if not is_object(value):
            report.wrong_type(place, "an object", value)
            return
        for key, entry in value.items():
            if entry is not None:
                item(entry, (place, key), report)

    return check


def record(fields: Mapping[str, Check], required: Collection[str] = ()) -> Check:
    """Return a check that accepts an object with these fields; other fields are ignored."""
    known = list(fields.items())

    def check(value: Any, place: Place, report: Report) -> None:
        if not is_object(value):
            report.wrong_type(place, "an object", value)
            return
        for key, item in known:
            entry = value.get(key)
            if entry is not None:
                item(entry, (place, key), report)
            elif key in required:
                report.missing((place, key))

    return check


texts = map_of(text)


def annotation_texts(value: Any, place: Place, report: Report) -> None:
    """Accept annotations; replays must be able to read those of theirs."""
    texts(value, place, report)
    for key, error in unreadable(value) if is_object(value) else ():
        fix = f"write a number, such as {600 if READERS[key] is seconds_of else 1}"
        message, actual = f": {error}", value[key]
        report.add("annotation.unreadable", "error", (place, key), message, actual=actual, fix=fix)
