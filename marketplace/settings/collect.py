"""Settings for `collectstatic` during an image build, without secrets and servers; files as in production."""

from .embedded import *  # noqa: F403 - settings modules extend each other by star import, Django's own idiom
from .embedded import DATA_DIR, STORAGES
from .environment import BASE_DIR, STATIC_FILES, text

STORAGES = STORAGES | {"staticfiles": STATIC_FILES}
STATIC_ROOT = BASE_DIR / text("STATIC_ROOT", str(DATA_DIR / "static"))
