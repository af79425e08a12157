"""The Django project: wiring only, no rules."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
