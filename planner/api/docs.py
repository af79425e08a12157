"""The page that documents the API."""

from drf_spectacular.views import SpectacularSwaggerSplitView


class Docs(SpectacularSwaggerSplitView):
    """Swagger UI from our own static files, without inline script or style."""

    url_name = "api:schema"
    template_name = "web/api_docs.html"
