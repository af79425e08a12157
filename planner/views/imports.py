"""How does a cluster come in through the browser? First it is read and shown, then saved."""

import secrets
from collections.abc import Sequence
from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from planner.engine.importing import MAX_TEXT_BYTES, Imported
from planner.rows import Problem
from planner.services.errors import Invalid
from planner.services.imports import Files, cluster_import, cluster_read
from planner.services.members import workspace_require
from planner.services.scenarios import scenario_create
from planner.views.pages import caller

PASTED = "pasted text"
KEPT_SECONDS = 3600
"""For how long a preview can be saved."""


@login_required
@require_http_methods(["GET", "POST"])
def import_cluster(request: HttpRequest) -> HttpResponse:
    """Show the form; with files or a text, show what was read of them and save nothing."""
    workspace_require(user=caller(request))
    if request.method == "GET":
        return render(request, "planner/import.html", {"place": "import", "typed": {}})
    if _size(request) > MAX_TEXT_BYTES:
        return _page(request, problems=[_too_large()])
    files = _sent(request)
    if not files:
        return _page(request, problems=[_nothing_sent()])
    read = cluster_read(files)
    if read.has_errors:
        return _page(request, read=read, problems=read.problems)
    name = request.POST.get("name", "").strip() or files[0][0].partition(".")[0]
    provenance = ", ".join(label for label, _ in files)
    return _page(request, read=read, problems=read.problems, draft=_keep(request, name, provenance, read))


@login_required
@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Keep a previewed cluster as a snapshot and open its first scenario."""
    draft = cache.get(_key(request, request.POST.get("draft", "")))
    if draft is None:
        messages.warning(request, "This preview is older than an hour. Preview the files again, then save.")
        return redirect("planner:import")
    name, provenance, read = draft
    try:
        snapshot = cluster_import(
            read=read,
            workspace=workspace_require(user=caller(request)),
            name=name[:253],
            provenance=provenance[:500],
            owner=caller(request),
        )
    except Invalid as error:
        return _page(request, read=read, problems=error.problems)
    scenario = scenario_create(snapshot=snapshot, name=snapshot.name, owner=caller(request))
    messages.success(request, "Imported. This scenario starts as the cluster is; change a queue and run it.")
    return redirect("planner:scenario-detail", scenario.pk)


def _page(
    request: HttpRequest,
    *,
    problems: Sequence[Problem],
    read: Imported | None = None,
    draft: str = "",
) -> HttpResponse:
    """Return the form with everything that was typed, what was read, and what is wrong with it."""
    context = {
        "place": "import",
        "typed": {
            "name": request.POST.get("name", ""),
            "documents": request.POST.get("documents", ""),
            "had_files": bool(request.FILES),
        },
        "read": read,
        "problems": problems,
        "errors": sum(problem.is_error for problem in problems),
        "draft": draft,
    }
    status = HTTPStatus.OK if draft else HTTPStatus.UNPROCESSABLE_ENTITY
    return render(request, "planner/import.html", context, status=status)


def _sent(request: HttpRequest) -> Files:
    files = [(file.name or "file", file.read()) for file in request.FILES.getlist("files")]
    if (text := request.POST.get("documents", "")).strip():
        # A browser sends line ends as CR LF; lines are counted the same, and a YAML text keeps its own.
        files.append((PASTED, text.replace("\r\n", "\n").encode()))
    return files


def _size(request: HttpRequest) -> int:
    sizes = [file.size or 0 for file in request.FILES.getlist("files")]
    return sum(sizes) + len(request.POST.get("documents", ""))


def _keep(request: HttpRequest, name: str, provenance: str, read: Imported) -> str:
    """Keep a preview for its reader; return the key under which it can be saved."""
    draft = secrets.token_urlsafe(16)
    cache.set(_key(request, draft), (name, provenance, read), timeout=KEPT_SECONDS)
    return draft


def _key(request: HttpRequest, draft: str) -> str:
    return f"import-{caller(request).pk}-{draft}"


def _too_large() -> Problem:
    limit = MAX_TEXT_BYTES // 10**6
    return Problem(
        "import.too_large",
        "error",
        f"This is more than {limit} MB.",
        fix="Compress it with gzip, or leave out what does not run under Volcano.",
    )


def _nothing_sent() -> Problem:
    return Problem(
        "import.empty", "error", "There is no file and no text.", fix="Choose files or paste a text."
    )
