"""Middleware, its helpers, and outbound HTTP requests.

The order in `settings.MIDDLEWARE`, including that of Django and libraries, from the outside in:

1. `monitoring.HealthMiddleware`: load balancers check health under any host name and without TLS, even if nothing else works.
2. `monitoring.RequestIdMiddleware`: all log lines and responses below have the id; `api.versions`: those of the API have its version.
3. `monitoring.MonitoringMiddleware`, `rate_limits` and `developers.usage.middleware`: they count or complete all responses.
4. Security headers, `static_files`, CORS, `pages.ContentPolicyMiddleware`: they complete responses too; static files are cheap and
   need no limit.
5. `refusals.RequestSizeMiddleware`: refuses requests that are too large before anything parses cookies, `Accept-Encoding`
   or the body. `pages.CompressionMiddleware` and `pages.PageCachingMiddleware` parse the former two, so they follow it.
6. `overload` limits concurrent requests: after middleware that adds headers or is cheap, before the expensive part.
7. Sessions, `CommonMiddleware`, then `refusals.WrongMethodMiddleware` and `refusals.ProblemMiddleware`, around CSRF, sign-in and the
   view, whose response or exception they see.
"""
