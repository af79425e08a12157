"""The Celery app."""

import os

from celery import Celery
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Django's checks import every page: without them a worker starts in two thirds of the time, and takes a
# quarter less memory. `make models` makes them before anything is installed.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("queuecast")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.task_queues = [Queue("celery", no_ack=True)]
app.autodiscover_tasks(["planner.work"])
