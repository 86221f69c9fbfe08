"""Pages that span apps."""

from django.urls import path

from .views import docs, front, llms, overview, problems

urlpatterns = [
    path("", front.landing, name="landing"),
    path("dashboard", overview.dashboard, name="dashboard"),
    path("docs", docs.index, name="docs-index"),
    path("docs/<slug:slug>", docs.page, name="docs-page"),
    path("docs/<slug:slug>.md", docs.source, name="docs-source"),
    path("problems", problems.problem_index, name="problems"),
    path("problems/<slug:code>", problems.problem_page, name="problem"),
    path("robots.txt", front.robots, name="robots"),
    path("llms.txt", llms.llms, name="llms"),
    path("favicon.ico", front.favicon, name="favicon"),
]
