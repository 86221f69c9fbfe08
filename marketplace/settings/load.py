"""How much a process takes on at once (`marketplace.http.overload`), and which addresses take files."""

from django.core.exceptions import ImproperlyConfigured

from . import environment as read

# Of each process. The server's own variable, which it reads for itself; not set: nobody is refused for load.
SERVER_THREADS = read.integer("GRANIAN_BLOCKING_THREADS", default=0)
# How many of its threads work at once; in most of the others requests wait for their turn. 0: all of them.
REQUESTS_AT_ONCE = read.integer("REQUESTS_AT_ONCE", default=4)
if SERVER_THREADS and SERVER_THREADS <= 3 * REQUESTS_AT_ONCE:
    raise ImproperlyConfigured(
        f"GRANIAN_BLOCKING_THREADS is {SERVER_THREADS}; set it to more than three times REQUESTS_AT_ONCE ({REQUESTS_AT_ONCE}), "
        "or REQUESTS_AT_ONCE to 0, which lets all of them work and refuses nobody."
    )

# Forms with files are taken here and nowhere else. The proxy in `deploy/` streams them by the same pattern, and buffers all other bodies.
UPLOAD_PATHS = (
    r"^/(api/v1/vendor/assets/[^/]+/(file|font-specimen|gallery-image|audio-preview)"
    r"|dashboard/studio/listings/[^/]+/(files/upload|pictures/[0-9]|specimen|sound))$"
)
