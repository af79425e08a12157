"""The Django settings; everything that differs between machines comes from the environment."""

import os
from pathlib import Path

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config.api import KNOX_TOKEN_MODEL as KNOX_TOKEN_MODEL
from config.api import REST_FRAMEWORK as REST_FRAMEWORK
from config.api import REST_KNOX as REST_KNOX
from config.api import SPECTACULAR_SETTINGS as SPECTACULAR_SETTINGS
from config.environment import PRODUCTION as PRODUCTION
from config.environment import env
from config.folders import private_folder
from config.logs import LOG_JSON as LOG_JSON
from config.logs import LOGGING as LOGGING
from config.secret import secret_kept_in

BASE_DIR = Path(__file__).resolve().parent.parent
os.umask(0o077)
# Whatever any process of this installation writes is for its user only.
VAR_DIR = private_folder(Path(env.str("QUEUECAST_VAR", default=str(BASE_DIR / "var"))))
"""Everything that this installation writes: database, messages, secret, collected static files."""

# Who may call, and how

DEBUG = env.bool("QUEUECAST_DEBUG", default=False)

SECRET_KEY = env.str("QUEUECAST_SECRET_KEY", default="")
if not SECRET_KEY:
    if PRODUCTION:
        raise ImproperlyConfigured("Set QUEUECAST_SECRET_KEY: a production server has no default secret.")
    SECRET_KEY = secret_kept_in(VAR_DIR / "secret_key")

ALLOWED_HOSTS = env.list("QUEUECAST_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("QUEUECAST_ORIGINS", default=[])

TRUSTED_PROXIES = env.list("QUEUECAST_TRUSTED_PROXIES", default=[])
"""Addresses or networks of proxies whose X-Forwarded-For names the caller; of others it is not read."""

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_SSL_REDIRECT = env.bool("QUEUECAST_SSL_REDIRECT", default=PRODUCTION)
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PRODUCTION else None
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# What runs

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "django_filters",
    "django_htmx",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "planner",
]

MIDDLEWARE = [
    "planner.web.middleware.addresses.ClientAddress",
    "django.middleware.security.SecurityMiddleware",
    # Compresses pages, answers and files that are not compressed on disk; adds bytes against BREACH.
    "django.middleware.gzip.GZipMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "planner.web.middleware.private.PrivateAnswers",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "planner.web.middleware.outages.Outages",
    "planner.web.middleware.removals.Removals",
    # Before anything reads the body, and the form's token is in the body.
    "planner.web.middleware.bodies.BodyLimits",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    # Every page is for accounts, unless its view is marked login_not_required.
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TAGS = "cells durations grids labels links product quantities reasons tables verdicts workbench"
"""Modules of tags and filters, in planner.web.templatetags."""
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "libraries": {name: f"planner.web.templatetags.{name}" for name in TAGS.split()},
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

AUTH_USER_MODEL = "planner.User"
SESSION_ENGINE = "planner.accounts.models.session"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Single sign-on by OpenID Connect: off until an issuer is named

OIDC_ISSUER = env.str("QUEUECAST_OIDC_ISSUER", default="")
"""The issuer as its own discovery document spells it; `/.well-known/openid-configuration` is found below."""
OIDC_CLIENT_ID = env.str("QUEUECAST_OIDC_CLIENT_ID", default="")
OIDC_CLIENT_SECRET = env.str("QUEUECAST_OIDC_CLIENT_SECRET", default="")
OIDC_NAME = env.str("QUEUECAST_OIDC_NAME", default="single sign-on")
"""What the button on the log-in page says: "Log in with …"."""
if OIDC_ISSUER and not (OIDC_CLIENT_ID and OIDC_CLIENT_SECRET):
    raise ImproperlyConfigured("QUEUECAST_OIDC_ISSUER requires QUEUECAST_OIDC_CLIENT_ID and …_CLIENT_SECRET.")
if OIDC_ISSUER and not OIDC_ISSUER.startswith(("https://", "http://localhost:")):
    raise ImproperlyConfigured(
        "QUEUECAST_OIDC_ISSUER must begin with https:// (or http://localhost: for a trial)."
    )

# What is kept

DATABASES = {"default": env.db_url("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'queuecast.sqlite3'}")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # Readers never wait for the writer, and a transaction takes the write lock when it begins, because
    # SQLite cannot wait for a lock in the middle of one.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True

REDIS_URL = env.str("REDIS_URL", default="")
CACHE_URL = env.str("QUEUECAST_CACHE_URL", default=REDIS_URL)
"""A Redis of its own for what can be counted again: one that evicts the least used (allkeys-lru)."""
SNAPSHOT_CACHE_BYTES = env.int("QUEUECAST_SNAPSHOT_CACHE_BYTES", default=25_000_000)
"""How much text the unpacked snapshots of one process may come from; unpacked it takes four times as much."""
CACHES = {
    "default": (
        {
            "BACKEND": "config.cache.OptionalRedisCache",
            "LOCATION": CACHE_URL,
            "TIMEOUT": 86_400,
            "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 5},
        }
        if CACHE_URL
        else {
            "BACKEND": "config.cache.JsonFileCache",
            "LOCATION": str(VAR_DIR / "cache"),
            "TIMEOUT": 86_400,
            "OPTIONS": {"MAX_ENTRIES": 1000, "MAX_BYTES": 100_000_000},
        }
    )
}
"""Shared by all web processes of this installation."""

# Static files

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Names carry the hash of the content. Compressing takes longer than all the rest of a first start and helps
# only over a network, so that is for a server for others.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
    },
}

# Uploads: editors may send files of a cluster (planner.web.middleware.bodies); nobody else sends more.

DATA_UPLOAD_MAX_MEMORY_SIZE = FILE_UPLOAD_MAX_MEMORY_SIZE = 2_621_440
FILE_UPLOAD_TEMP_DIR = private_folder(VAR_DIR / "uploads")
"""Each process of the web server has a folder of its own in it, see config.gunicorn."""

# Collected static files, too: Django sets their mode whatever the umask is
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700

# Messages. A message only notifies; the Run row is the truth, so it may be lost

CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {}
if REDIS_URL:
    CELERY_BROKER_TRANSPORT = "config.broker:Redis"
else:
    CELERY_BROKER_TRANSPORT = "config.broker:Files"
    BROKER_DIR = VAR_DIR / "broker"
    for folder in ("messages", "control", "processed"):
        private_folder(BROKER_DIR / folder)
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(BROKER_DIR / "messages"),
        "data_folder_out": str(BROKER_DIR / "messages"),
        "control_folder": str(BROKER_DIR / "control"),
        "processed_folder": str(BROKER_DIR / "processed"),
        "polling_interval": 0.05,
    }
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
# A thread per run is enough: the run itself computes in a child process of the worker.
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = env.int("QUEUECAST_CONCURRENCY", default=2)
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# The life of a run, and of an import that a worker reads

RUN_LEASE_SECONDS = env.float("QUEUECAST_LEASE_SECONDS", default=30.0)
RUN_HEARTBEAT_SECONDS = env.float("QUEUECAST_HEARTBEAT_SECONDS", default=1.0)
RUN_SWEEP_SECONDS = env.float("QUEUECAST_SWEEP_SECONDS", default=5.0)
"""A queued run whose message is older than this counts as forgotten: whoever has a place free takes it."""
RUN_MAX_LOSSES = env.int("QUEUECAST_MAX_LOSSES", default=3)
"""How many workers a run may lose before it is failed."""
RUN_BACK_OFF_SECONDS = env.float("QUEUECAST_BACK_OFF_SECONDS", default=2.0)
"""How long a run waits after it lost its first worker; doubled with every further one."""
RUN_MEMORY_MB = env.int("QUEUECAST_RUN_MEMORY_MB", default=4096)
RUN_TIME_LIMIT_SECONDS = env.float("QUEUECAST_RUN_SECONDS", default=3600.0)
FORECAST_FREEZE_SECONDS = env.float("QUEUECAST_FREEZE_SECONDS", default=10.0)
"""How often a forecast's state is kept, from which another worker goes on; seldom, where that takes long."""
RUN_EXTENDER_HOSTS = env.list("QUEUECAST_EXTENDER_HOSTS", default=[])
"""The hosts (`host` or `host:port`) that plugin extender may call; none: calls fail."""

IMPORT_SYNCHRONOUS_BYTES = env.int("QUEUECAST_IMPORT_SYNCHRONOUS_BYTES", default=20_000_000)
"""How much text, inflated, is read while its sender waits; a worker reads what holds more."""
IMPORT_MEMORY_MB = env.int("QUEUECAST_IMPORT_MEMORY_MB", default=1024)
IMPORT_SECONDS = env.float("QUEUECAST_IMPORT_SECONDS", default=60.0)
"""What the process may use that reads while the sender waits; there is one at a time for each web process."""

KEEP_ANNOTATIONS = env.list("QUEUECAST_KEEP_ANNOTATIONS", default=[])
"""Annotations that imports keep besides Volcano's own: full names, or a prefix that ends in `*`."""

KEEP_RUNS_DAYS = env.float("QUEUECAST_KEEP_RUNS_DAYS", default=90.0)
"""How long a run that has ended, a large import and a removed scenario are kept."""
KEEP_RUNS_MB = env.float("QUEUECAST_KEEP_RUNS_MB", default=10_000.0)
"""How much the runs of a workspace may take, packed, before the oldest go; 0: no limit."""
WORKSPACE_MB = env.float("QUEUECAST_WORKSPACE_MB", default=20_000.0)
"""How much a workspace may keep, packed, before imports and runs are refused; 0: no limit."""
TIDY_SECONDS = env.float("QUEUECAST_TIDY_SECONDS", default=3600.0)
"""How often a worker removes what is old; 0: never."""

# Backups, made and verified by a worker

BACKUP_DIR = env.str("QUEUECAST_BACKUP_DIR", default="")
"""The folder that scheduled backups go to; empty: none are made."""
BACKUP_HOURS = env.float("QUEUECAST_BACKUP_HOURS", default=24.0)
BACKUP_KEEP = env.int("QUEUECAST_BACKUP_KEEP", default=7)
if BACKUP_KEEP < 1:
    raise ImproperlyConfigured("QUEUECAST_BACKUP_KEEP must be 1 or more: the newest backup is always kept.")

METRICS_TOKEN = env.str("QUEUECAST_METRICS_TOKEN", default="")
"""The bearer token under which a server for others answers /metrics; without one it does not."""

# Words and times

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True
