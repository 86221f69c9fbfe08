"""Static files as whole answers."""

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # whitenoise has no types
    """WhiteNoise, which streams files. An answer that streams keeps a thread for as long as its client takes to read it."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """Return the answer with all its bytes: no static file is large."""
        given = static_file.get_response(request.method, request.META)
        content = b""
        if given.file is not None:
            with given.file:
                content = given.file.read()
        answer = HttpResponse(content, status=int(given.status))
        # One with no body has no type either.
        del answer["Content-Type"]
        for name, value in given.headers:
            answer[name] = value
        return answer
