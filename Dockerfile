# syntax=docker/dockerfile:1

# The dependencies as locked in uv.lock, and the static files under names that contain their hash.
FROM python:3.11-slim-bookworm AS build
COPY --from=ghcr.io/astral-sh/uv:0.13 /uv /usr/local/bin/uv
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PROJECT_ENVIRONMENT=/opt/venv UV_PYTHON_DOWNLOADS=never UV_CACHE_DIR=/var/cache/uv
WORKDIR /app
COPY pyproject.toml uv.lock ./
RUN --mount=type=cache,target=/var/cache/uv uv sync --locked --no-dev --group observability
COPY . .
RUN DATA_DIR=/tmp/build STATIC_ROOT=/app/static DJANGO_SETTINGS_MODULE=marketplace.settings.collect \
    /opt/venv/bin/python manage.py collectstatic --no-input --verbosity 0 && rm -rf /tmp/build

FROM python:3.11-slim-bookworm
# pg_dump and pg_restore, for `manage.py backup` and `restore`.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin marketplace \
    && install --directory --owner=10001 --mode=0700 /data /tmp/metrics
COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=marketplace.settings.production \
    DATA_DIR=/data \
    STATIC_ROOT=/app/static \
    METRICS_DIR=/tmp/metrics \
    GRANIAN_BLOCKING_THREADS=64
WORKDIR /app
USER 10001
VOLUME /data
EXPOSE 8000
# Liveness only; /readyz tells a load balancer whether the node should get requests.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
# A server process for each core (`WEB_CONCURRENCY`), started again when it is killed, and killed when it does not stop in time; `docker run … python manage.py worker` does the
# background work instead.
CMD ["sh", "-c", "exec granian --interface wsgi --host 0.0.0.0 --port 8000 --workers \"${WEB_CONCURRENCY:-$(nproc)}\" --respawn-failed-workers --workers-kill-timeout 30 --no-ws marketplace.wsgi:application"]
