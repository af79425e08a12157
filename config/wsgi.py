"""The WSGI application."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
import_module(settings.ROOT_URLCONF)  # all pages: no first request waits for them, and processes share them
