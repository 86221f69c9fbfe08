"""Our middleware, what it stands on, and the HTTP calls that we make.

The order in `settings.MIDDLEWARE`, with Django's and the libraries', is from the outside in:

1. `monitoring.HealthMiddleware`: load balancers ask under any host name and without TLS, also when nothing else answers.
2. `request_id`: every line that is logged and every answer below bears the id.
3. `monitoring.MonitoringMiddleware`, `rate_limits` and `developers.usage.middleware`: they count or complete every answer, whoever gives it.
4. Security headers, `static_files`, CORS and `pages`: they complete answers too; static files cost nothing and need no limit.
5. `refusals.RequestSizeMiddleware`: refuses what is too large before anything reads it. It is above those of `pages` that read cookies, or
   what a client accepts.
6. `overload`: after all that adds headers and all that is cheap, before all that works.
7. Sessions, `CommonMiddleware`, then `refusals.WrongMethodMiddleware` and `refusals.UnreadableBodyMiddleware`, around CSRF, sign-in and the view:
   they see the answer or the exception of the view itself.
"""
