"""The WSGI application: `granian --interface wsgi marketplace.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings.production")

application = get_wsgi_application()
