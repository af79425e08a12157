"""How do messages reach the workers?"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("queuecast")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["planner.work"])
