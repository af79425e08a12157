"""Settings of the API: parsing, rendering, throttling, schema."""

from datetime import timedelta

from config.environment import env
from config.version import VERSION

REST_FRAMEWORK: dict[str, object] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "planner.api.authentication.ApiToken",
        "planner.api.authentication.BrowserSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "planner.api.negotiation.KnownForms",
    "DEFAULT_PARSER_CLASSES": ["planner.api.parsers.JsonBody"],
    "DEFAULT_SCHEMA_CLASS": "planner.api.sparse.SparseSchema",
    "DEFAULT_PAGINATION_CLASS": "planner.api.pagination.Pages",
    "DEFAULT_FILTER_BACKENDS": ["planner.api.filters.KnownFilters"],
    "EXCEPTION_HANDLER": "planner.api.errors.exception_handler",
    "DEFAULT_THROTTLE_CLASSES": ["planner.api.throttling.WritingCalls"],
    # Limit of writing calls per account; None: unlimited.
    "DEFAULT_THROTTLE_RATES": {"writes": env.str("QUEUECAST_WRITES", default="1200/min") or None},
}
KNOX_TOKEN_MODEL = "knox.AuthToken"  # noqa: S105 - a name of a model
"""Knox's own; `makemigrations` fails without it."""
REST_KNOX = {
    "AUTH_HEADER_PREFIX": "Token",
    "TOKEN_TTL": timedelta(days=365),
    "TOKEN_LIMIT_PER_USER": None,
}
SPECTACULAR_SETTINGS: dict[str, object] = {
    "TITLE": "Queuecast",
    "DESCRIPTION": "What will happen to queues, jobs and running pods if the cluster's queues change?",
    "VERSION": VERSION,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "RoleEnum": "planner.accounts.models.workspace.Role",
        "WorkState": "planner.work.models.work.Work.State",
        "DecisionState": "planner.runs.models.outcome.DecisionState",
        "ExperimentKind": "planner.experiments.models.experiment.Experiment.Kind",
        "ExperimentState": "planner.experiments.models.experiment.Experiment.State",
    },
}
