"""The WSGI application."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
# All pages, and Celery, which notifies workers: no first request waits for them, and processes share them.
for module in (settings.ROOT_URLCONF, "config.celery"):
    import_module(module)
