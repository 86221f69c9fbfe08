"""Concurrency limits of a process (`marketplace.http.overload`), and the paths of file uploads."""

from django.core.exceptions import ImproperlyConfigured

from . import environment as read

# Threads of each process; the server reads this variable too. Not set: no request is refused because of load.
SERVER_THREADS = read.integer("GRANIAN_BLOCKING_THREADS", default=0)
# Number of requests processed at once; requests in other threads wait. 0: no limit.
REQUESTS_AT_ONCE = read.integer("REQUESTS_AT_ONCE", default=4)
if SERVER_THREADS and SERVER_THREADS <= 3 * REQUESTS_AT_ONCE:
    raise ImproperlyConfigured(
        f"GRANIAN_BLOCKING_THREADS is {SERVER_THREADS}; set it to more than three times REQUESTS_AT_ONCE ({REQUESTS_AT_ONCE}), "
        "or REQUESTS_AT_ONCE to 0, which lets all threads work and refuses no request."
    )

# The only paths that accept files. The proxy in `deploy/` streams them by the same pattern, and buffers all other bodies.
UPLOAD_PATHS = (
    r"^/(api/v1/vendor/assets/[^/]+/(file|font-specimen|gallery-image|audio-preview)|(api/v1/vendor|dashboard/studio)/store/(logo|banner)"
    r"|dashboard/studio/listings/[^/]+/(files/upload|pictures/[0-9]|specimen|sound))$"
)
