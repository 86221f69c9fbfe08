"""The yardstick: a Django project as `startproject` creates it, with one view whose JSON response is as long as a page of the catalog."""

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path

ITEMS = [
    {"id": f"018f3a00-0000-7000-8000-{number:012d}", "title": f"Velmora Grotesk {number}", "priceINR": 499.0, "tierRequirement": "free"}
    for number in range(20)
]

settings.configure(
    SECRET_KEY="benchmark",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages"],
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
)
django.setup()


def page(_request: HttpRequest) -> JsonResponse:
    """Return twenty items."""
    return JsonResponse({"total": 1_000_000, "page": 1, "items": ITEMS, "nextCursor": None})


urlpatterns = [path("page", page)]
application = get_wsgi_application()
