"""Idempotency keys: a repeated create call gets the first response and creates nothing."""

import hashlib
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, is_dry
from planner.api.models import IdempotencyKey

KEPT = timedelta(hours=24)
LONGEST = 200

Params = ParamSpec("Params")
View = TypeVar("View", bound=WorkspaceView)


def once(
    call: Callable[Concatenate[View, Request, Params], Response],
) -> Callable[Concatenate[View, Request, Params], Response]:
    """Make a create call honour ``Idempotency-Key``; a failed call may be retried with its key.

    The key's row and the created object are one transaction: of two concurrent calls the second one waits for
    the key, and then gets the response of the first.
    """

    @wraps(call)
    def answered_once(
        view: View, request: Request, /, *args: Params.args, **kwargs: Params.kwargs
    ) -> Response:
        key = _key(request)
        if key is None:
            return call(view, request, *args, **kwargs)
        fingerprint = _fingerprint(request)
        with transaction.atomic():
            kept = _kept(request, key, fingerprint)
            if first := _first_answer(kept, fingerprint):
                return first
            response = call(view, request, *args, **kwargs)
            kept.status, kept.body = response.status_code, _without_secret(view, response.data)
            kept.etag = response.headers.get("ETag", "")
            kept.save()
        return response

    return answered_once


def first_answer(request: Request) -> Response | None:
    """Return the response to the first call with the key of this call; None if there was none (1 query).

    A call that computes for seconds asks before, and passes what it has computed to a method that is `once`:
    SQLite has one write lock, which the transaction of the key takes.
    """
    key = _key(request)
    kept = None if key is None else _of_caller(request).filter(key=key, created__gte=_oldest()).first()
    return None if kept is None else _first_answer(kept, _fingerprint(request))


def _key(request: Request) -> str | None:
    """Return the key of a call; None without one, and in a dry run."""
    key = request.headers.get("Idempotency-Key")
    if key is None or is_dry(request):
        return None
    if not 0 < len(key) <= LONGEST:
        raise _refusal(f"Send 1 to {LONGEST} characters.", "idempotency_key_length")
    return key


def _first_answer(kept: IdempotencyKey, fingerprint: str) -> Response | None:
    if kept.fingerprint != fingerprint:
        raise _refusal("This key was used with a different body.", "idempotency_key_reused")
    return _replayed(kept) if kept.status else None


def _caller(request: Request) -> str:
    return getattr(request.auth, "digest", None) or f"account {request.user.pk}"


def _of_caller(request: Request) -> QuerySet[IdempotencyKey]:
    return IdempotencyKey.objects.filter(caller=_caller(request))


def _oldest() -> datetime:
    """Return since when keys are kept."""
    return timezone.now() - KEPT


def _kept(request: Request, key: str, fingerprint: str) -> IdempotencyKey:
    """Return the row of this key; one older than a day is deleted first."""
    mine = _of_caller(request)
    mine.filter(created__lt=_oldest()).delete()
    row, _ = mine.get_or_create(key=key, defaults={"caller": _caller(request), "fingerprint": fingerprint})
    return row


def _without_secret(view: WorkspaceView, body: Any) -> Any:
    """Return the response to store; a secret is shown once and never stored."""
    return {**body, view.shown_once: None} if view.shown_once else body


def _replayed(kept: IdempotencyKey) -> Response:
    headers = {"Idempotency-Replayed": "true"} | ({"ETag": kept.etag} if kept.etag else {})
    return Response(kept.body, kept.status, headers=headers)


def _fingerprint(request: Request) -> str:
    digest = hashlib.sha256()
    for part in _content_of(request):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _content_of(request: Request) -> Iterator[bytes]:
    """Yield the content of a call; of a form its parts, as every attempt has a new boundary."""
    yield f"{request.method} {request.get_full_path()}".encode()
    if not request.content_type.startswith("multipart/"):
        yield request.body
        return
    for name, values in sorted(request.POST.lists()):
        yield from (name.encode(), *(str(value).encode() for value in values))
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            yield from (name.encode(), file.name.encode())
            yield from file.chunks()
            file.seek(0)


def _refusal(message: str, code: str) -> Any:
    return ValidationError({"Idempotency-Key": [ErrorDetail(message, code)]})
