"""For `collectstatic` while an image is built, where there is no secret and no server: the files as production serves them."""

from pathlib import Path

from .embedded import *  # noqa: F403 - settings modules extend each other by star import, Django's own idiom
from .embedded import DATA_DIR, STORAGES
from .environment import STATIC_FILES, text

STORAGES = STORAGES | {"staticfiles": STATIC_FILES}
STATIC_ROOT = Path(text("STATIC_ROOT", str(DATA_DIR / "static")))
