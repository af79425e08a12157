"""The settings of tests: a private folder, fast password hashing, short leases, no broker."""

import atexit
import os
import shutil
import tempfile

if "QUEUECAST_VAR" not in os.environ:
    os.environ["QUEUECAST_VAR"] = tempfile.mkdtemp(prefix="queuecast-test-")
    atexit.register(shutil.rmtree, os.environ["QUEUECAST_VAR"], ignore_errors=True)
os.environ.setdefault("QUEUECAST_SECRET_KEY", "only-for-tests-" + "x" * 50)

from config.settings import *  # noqa: F403

os.umask(0o022)  # what tests write is read by servers under users of their own

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    # A file, as in production: there a thread waits for another's lock, in a shared memory it is refused.
    DATABASES["default"].setdefault("TEST", {})["NAME"] = str(VAR_DIR / "test")  # noqa: F405
else:
    # Tables that are there are copied: to migrate takes seconds.
    DATABASES["default"]["TEST"] = {"TEMPLATE": DATABASES["default"]["NAME"]}  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
CELERY_BROKER_TRANSPORT = "memory"
CELERY_BROKER_TRANSPORT_OPTIONS = {}
REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"] = {"writes": None}  # noqa: F405 - tests write without pause
WHITENOISE_AUTOREFRESH = True  # there are no collected files to list when a client starts
