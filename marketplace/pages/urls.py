"""Pages that span apps."""

from django.urls import path

from . import views

urlpatterns = [
    path("", views.landing, name="landing"),
    path("dashboard", views.dashboard, name="dashboard"),
    path("problems", views.problem_index, name="problems"),
    path("problems/<slug:code>", views.problem_page, name="problem"),
    path("robots.txt", views.robots, name="robots"),
    path("favicon.ico", views.favicon, name="favicon"),
]
