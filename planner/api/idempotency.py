"""Idempotency keys: a repeated create call gets the first response and creates nothing."""

import hashlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.db import transaction
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
        key = request.headers.get("Idempotency-Key")
        if key is None or is_dry(request):
            return call(view, request, *args, **kwargs)
        if not 0 < len(key) <= LONGEST:
            raise _refusal(f"Send 1 to {LONGEST} characters.", "idempotency_key_length")
        fingerprint = _fingerprint(request)
        with transaction.atomic():
            kept = _kept(request, key, fingerprint)
            if kept.fingerprint != fingerprint:
                raise _refusal("This key was used with a different body.", "idempotency_key_reused")
            if kept.status:
                return _replayed(kept)
            response = call(view, request, *args, **kwargs)
            kept.status, kept.body = response.status_code, _without_secret(view, response.data)
            kept.etag = response.headers.get("ETag", "")
            kept.save()
        return response

    return answered_once


def _kept(request: Request, key: str, fingerprint: str) -> IdempotencyKey:
    """Return the row of this key; one older than a day is deleted first."""
    caller = getattr(request.auth, "digest", None) or f"account {request.user.pk}"
    mine = IdempotencyKey.objects.filter(caller=caller)
    mine.filter(created__lt=timezone.now() - KEPT).delete()
    row, _ = IdempotencyKey.objects.get_or_create(
        caller=caller, key=key, defaults={"fingerprint": fingerprint}
    )
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
