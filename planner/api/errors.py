"""Error responses of the API, all of one shape."""

import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import Http404, UnreadablePostError
from rest_framework import exceptions
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.services.logins import TooSoon
from planner.errors import Busy, Invalid, StaleRevision, StaleTargets, gone_of, is_outage

logger = logging.getLogger(__name__)

PROBLEM_KEYS = (
    "rule", "severity", "message", "path", "queue", "field", "actual", "limit", "fix", "document", "line",
)  # fmt: skip
"""Every problem has all of these keys; unknown values are null."""

_OTHER_TYPE = re.compile(r'Expected a (dictionary|list)\b.* but got (?:type )?"?(\w+)')
"""The framework's message about a value of another type than an object or a list, in Python's words."""
_JSON_TYPES = {
    "dictionary": "an object",
    "dict": "an object",
    "list": "a list",
    "str": "a string",
    "int": "a number",
    "float": "a number",
    "bool": "a boolean",
}


class PreconditionRequired(exceptions.APIException):
    """An edit without the revision that it is based on."""

    status_code = HTTPStatus.PRECONDITION_REQUIRED
    default_detail = "State what this edit is based on: send If-Match with the ETag of the last response."
    default_code = "precondition_required"


class StaleEdit(exceptions.APIException):
    """An edit based on an older revision; the response has both versions."""

    status_code = HTTPStatus.PRECONDITION_FAILED
    default_code = "stale_revision"

    def __init__(self, stale: StaleRevision, *, seen: Any, current: Any) -> None:
        super().__init__(str(stale))
        self.versions = {
            "seen": {"revision": stale.expected, "body": seen},
            "current": {"revision": stale.current, "body": current},
        }


class StaleTag(exceptions.APIException):
    """A replacement of a content that has changed since the caller read it."""

    status_code = HTTPStatus.PRECONDITION_FAILED
    default_code = "stale_targets"


def error_body(code: str, message: str, problems: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return the body of an error."""
    return {"code": code, "message": message, "problems": [problem_body(**problem) for problem in problems]}


def problem_body(**known: Any) -> dict[str, Any]:
    """Return a problem with all keys."""
    return {key: known.get(key) for key in PROBLEM_KEYS}


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response:
    """Return the response to an exception in a view."""
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied(str(error) or None)
    elif gone := gone_of(error):
        error = exceptions.NotFound(str(gone))
    elif isinstance(error, (RequestDataTooBig, UnreadablePostError, Busy)) or is_outage(error):
        raise error  # planner.web.middleware answers, for pages and API alike
    elif isinstance(error, SuspiciousOperation):
        error = exceptions.ParseError(str(error))
    elif isinstance(error, TooSoon):
        error = exceptions.Throttled(math.ceil(error.wait.total_seconds()), "Too many attempts.")
    elif isinstance(error, StaleTargets):
        error = StaleTag(str(error))
    if isinstance(error, Invalid):
        return _unprocessable([asdict(problem) for problem in error.problems], context["request"])
    if isinstance(error, exceptions.ValidationError):
        return _unprocessable(list(_request_problems(error.get_full_details())), context["request"])
    if isinstance(error, exceptions.APIException):
        return _failure(error)
    return _fault(error, context["request"])


def _unprocessable(problems: Sequence[Mapping[str, Any]], request: Request) -> Response:
    errors = sum(problem["severity"] == "error" for problem in problems)
    writing = "" if request.method in SAFE_METHODS else "; nothing was saved"
    message = f"{errors} problem{'' if errors == 1 else 's'} to fix{writing}."
    body = error_body("invalid", message, problems)
    return Response(body, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def _failure(error: exceptions.APIException) -> Response:
    body = error_body(str(error.get_codes()), str(error.detail))
    if isinstance(error, StaleEdit):
        body |= error.versions
    return Response(body, status=error.status_code, headers=_headers(error))


def _request_problems(details: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield a problem for each error of a serializer, with its path in the request."""
    if isinstance(details, list):
        for index, detail in enumerate(details):
            leaf = isinstance(detail, dict) and set(detail) == {"message", "code"}
            yield from _request_problems(detail, path if leaf else f"{path}[{index}]")
    elif set(details) == {"message", "code"}:
        rule = f"request.{details['code']}"
        message = _in_json(str(details["message"]))
        yield {"rule": rule, "severity": "error", "message": message, "path": path or None}
    else:
        for key, detail in details.items():
            yield from _request_problems(detail, _inside(path, key))


def _in_json(message: str) -> str:
    """Return a message in which a value of a wrong JSON type is named as such.

    >>> _in_json("Invalid data. Expected a dictionary, but got list.")
    'Send an object, not a list.'
    >>> _in_json('Expected a list of items but got type "str".')
    'Send a list, not a string.'
    """
    if (wrong := _OTHER_TYPE.search(message)) is None:
        return message
    return f"Send {_JSON_TYPES[wrong[1]]}, not {_JSON_TYPES.get(wrong[2], wrong[2])}."


def _inside(path: str, key: str | int) -> str:
    """Return the path of an element of a list, or of a member of an object."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return path if key == "non_field_errors" else f"{path}.{key}".lstrip(".")


def _headers(error: exceptions.APIException) -> dict[str, str]:
    """Return the headers that the status requires: WWW-Authenticate, Retry-After."""
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(math.ceil(wait))
    return headers


def _fault(error: Exception, request: Request) -> Response:
    """Log an internal error and reveal nothing about it; the test client still raises it."""
    logger.error("The call %s %s failed", request.method, request.path, exc_info=error)
    got_request_exception.send(sender=None, request=request)
    body = error_body("internal_error", "Internal error; it has been logged.")
    return Response(body, status=HTTPStatus.INTERNAL_SERVER_ERROR)
