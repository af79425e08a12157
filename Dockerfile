# One image for web, worker and migrate.
# Pinned by version: the digest is not known here. `scripts/pin-images` writes it where a registry can be asked.
ARG BASE=python:3.11.13-slim-bookworm
FROM ${BASE}

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DJANGO_SETTINGS_MODULE=config.settings \
    QUEUECAST_VAR=/var/lib/queuecast

RUN useradd --system --create-home --home-dir /var/lib/queuecast queuecast \
    && install --directory --owner queuecast --mode 700 /var/lib/queuecast/backups
WORKDIR /srv/queuecast

COPY requirements/base.txt requirements/base.txt
RUN pip install --no-cache-dir --require-hashes -r requirements/base.txt

COPY manage.py ./
COPY config config
COPY extender_client extender_client
COPY traces traces
COPY manifests manifests
COPY planner planner
COPY planning planning
COPY scheduler_core scheduler_core
COPY static static
COPY templates templates
RUN python -m compileall -q config extender_client manifests planner planning scheduler_core traces

USER queuecast
# The secret of the build signs nothing: it is gone with this layer's process.
RUN QUEUECAST_SECRET_KEY=build python manage.py collectstatic --noinput --verbosity 0

EXPOSE 8000
CMD ["gunicorn", "config.wsgi:application", "--config", "python:config.gunicorn", "--bind", "0.0.0.0:8000"]
