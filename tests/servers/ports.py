"""Free ports."""

import socket

# Bound and never listening: until this process ends, the system gives the port to nobody who asks for any, and to no connection
# outwards. A server that asks for this very one gets it, as often as it is started.
_kept: list[socket.socket] = []


def free_port() -> int:
    """Return a loopback port that nothing listens on, and that nobody but the server meant for it takes by chance."""
    keeper = socket.socket()
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.bind(("127.0.0.1", 0))
    _kept.append(keeper)
    port: int = keeper.getsockname()[1]
    return port
