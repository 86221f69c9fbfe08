"""Serves static files as complete responses."""

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # whitenoise has no types
    """WhiteNoise without streaming: a streamed response occupies a thread until the client has read it."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """Return the response with the whole content, since static files are small."""
        given = static_file.get_response(request.method, request.META)
        content = b""
        if given.file is not None:
            with given.file:
                content = given.file.read()
        response = HttpResponse(content, status=int(given.status))
        # WhiteNoise's headers have the type, if there is a body.
        del response["Content-Type"]
        for name, value in given.headers:
            response[name] = value
        return response
