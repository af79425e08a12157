"""API calls that share a run: public links and bundles."""

import hashlib
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.generics import ListAPIView, get_object_or_404
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.models import Workspace
from planner.api.access import WorkspaceView, is_dry, made, saved_unless_dry
from planner.api.idempotency import first_answer, once
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, WORKSPACE, answers, listed
from planner.api.serializers import ImportSerializer
from planner.clusters.models import Blob
from planner.clusters.services.imports import import_create, packed_files
from planner.runs.api.filters import LinkFilter
from planner.runs.api.serializers.runs import RunSerializer
from planner.runs.api.serializers.sharing import (
    BundleFile,
    BundleImported,
    LinkMade,
    LinkMake,
    LinkSerializer,
)
from planner.runs.models import PublicLink
from planner.runs.selectors.runs import links_of
from planner.runs.services.bundles import (
    BundleRead,
    bundle_export,
    bundle_read,
    bundle_store,
    is_large_bundle,
)
from planner.runs.services.links import link_create, link_revoke


@extend_schema_view(get=extend_schema(responses=listed(LinkSerializer)))
class LinkList(WorkspaceView, ListAPIView[PublicLink]):
    """The public links of a run, newest first."""

    queryset = PublicLink.objects.none()
    serializer_class = LinkSerializer
    filterset_class = LinkFilter
    shown_once = "address"

    def get_queryset(self) -> QuerySet[PublicLink]:
        """Return the run's links."""
        return links_of(self.run())

    @extend_schema(
        request=LinkMake,
        responses=answers({201: LinkMade}, 400, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
        filters=False,
    )
    @once
    def post(self, request: Request, run_id: UUID) -> Response:
        """Create a public link to this run; its address is shown only once."""
        run = self.run()
        serializer = LinkMake(data=request.data)
        serializer.is_valid(raise_exception=True)
        with saved_unless_dry(request):
            link, secret = link_create(run=run, user=self.user, **serializer.validated_data)
        address = request.build_absolute_uri(reverse("planner:shared", args=[secret]))
        body = {**LinkSerializer(link).data, "address": None if is_dry(request) else address}
        return made(request, body, status.HTTP_201_CREATED)


class LinkDetail(WorkspaceView):
    """One public link."""

    @extend_schema(responses=answers({204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, run_id: UUID, link_id: UUID) -> Response:
        """Revoke a link immediately."""
        link = get_object_or_404(links_of(self.run()), pk=link_id)
        with saved_unless_dry(request):
            link_revoke(link=link, user=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


_ZIP = {(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, "The bundle.")}


class RunBundle(WorkspaceView):
    """A run as one file."""

    sparse = False

    @extend_schema(responses=answers(_ZIP, 404))
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """Return input, configuration, result and engine version, to repeat the run elsewhere."""
        run = self.run()
        if run.result is None:
            raise NotFound(f"The run is {run.state} and has no result.", "no_result")
        self.note_export(run.workspace, f"run {run.pk}: bundle")
        content = bundle_export(run=run)
        tag = f'"{hashlib.sha256(content).hexdigest()}"'
        if unchanged := get_conditional_response(request, etag=tag):
            return unchanged
        name = f'attachment; filename="queuecast-{run.pk}.zip"'
        headers = {"Content-Disposition": name, "ETag": tag}
        return HttpResponse(content, content_type="application/zip", headers=headers)


class Bundles(WorkspaceView):
    """Runs of other installations."""

    parser_classes = [MultiPartParser]

    @extend_schema(
        request={"multipart/form-data": BundleFile},
        responses=answers({202: BundleImported}, 400, 403, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY, WORKSPACE],
    )
    def post(self, request: Request) -> Response:
        """Store a bundle's cluster as snapshot and scenario, and repeat its run with the same result."""
        workspace = self.workspace_for_import()
        serializer = BundleFile(data=request.data)
        serializer.is_valid(raise_exception=True)
        file = serializer.validated_data["file"]
        if first := first_answer(request):
            return first
        if not is_large_bundle(file):
            return self._stored(request, bundle_read(file), workspace)
        name = (file.name or "bundle")[:253]
        return self._handed_on(request, packed_files([(name, file)]), name, workspace)

    @once
    def _stored(self, request: Request, read: BundleRead, workspace: Workspace) -> Response:
        """Store a bundle that was read."""
        with saved_unless_dry(request):
            run = bundle_store(read=read, workspace=workspace, user=self.user)
        run_body = RunSerializer(run).data
        body = {
            "run": {**run_body, "id": None} if is_dry(request) else run_body,
            "result_sha256": read.about.result_sha256,
            "engine_version": read.about.engine_version,
            "imported_by": None,
        }
        return Response(body, status.HTTP_200_OK if is_dry(request) else status.HTTP_202_ACCEPTED)

    @once
    def _handed_on(self, request: Request, files: Blob, name: str, workspace: Workspace) -> Response:
        """Queue the import of a large bundle."""
        imported = import_create(
            files=files,
            workspace=workspace,
            name=name,
            provenance=f"bundle {name}"[:500],
            is_dry=is_dry(request),
            is_bundle=True,
            user=self.user,
        )
        body = {
            "run": None,
            "result_sha256": None,
            "engine_version": None,
            "imported_by": ImportSerializer(imported).data,
        }
        at = reverse("api:import", args=[imported.pk])
        return Response(body, status.HTTP_202_ACCEPTED, headers={"Location": at})
