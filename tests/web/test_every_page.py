"""Every page of the service: none is forgotten, and each asks little of the database however much there is."""

from collections import defaultdict
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, resolve

from marketplace.core.ids import new_id
from marketplace.http.pages import IMAGE_PREVIEW_POLICY, PAGE_POLICY, REDIRECTING_FORM_POLICY
from tests.admin import every_page
from tests.architecture.source import patterns
from tests.http.test_pages_of_the_middleware import address_of

from .markup import faults_of
from .world import NO_PAGES, PAGES, crowd, make_world

MOST_QUERIES = 9
MOST_QUERIES_OF_THE_ADMIN = 15
# More than a page of a list shows, and than a page may send queries.
ROWS = 30
# Not pages: programs call these.
OF_PROGRAMS = ("api/v1/", "mcp", ".well-known/", "healthz", "readyz", "metrics")
OUR_POLICIES = (PAGE_POLICY, REDIRECTING_FORM_POLICY, IMAGE_PREVIEW_POLICY)
# Of the admin, `tests/admin` knows every decision.
OF_THE_ADMIN = "admin/"


def test_every_route_is_tested_as_a_page_or_listed_as_an_exception() -> None:
    places = defaultdict(lambda: str(new_id()), payment_page="/payments/test/x")
    shown = {resolve(path.split("?")[0].format_map(places)).url_name for paths in PAGES.values() for path in paths}
    excused = {name for names in NO_PAGES.values() for name in names}
    of_forms = {
        pattern.name or ""
        for route, pattern in patterns(get_resolver())
        if "GET" not in Client().options(address_of(route))["Allow"].split(", ")
    }
    ours = {pattern.name or "" for route, pattern in patterns(get_resolver()) if not route.startswith((*OF_PROGRAMS, OF_THE_ADMIN))}
    assert ours - shown - excused - of_forms == set(), "a page that nobody looks at: put it into tests/web/world.py"
    assert excused - ours == set()
    assert excused & (shown | of_forms) == set()


# A browser looks at each of them on SQLite.
@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.django_db
def test_every_page_has_valid_markup_and_few_queries_with_many_rows(jobs_wait: None, settings: Any) -> None:
    world = make_world()
    # As it is in production: whether there is one is looked up for each page of the admin.
    settings.ADMIN_REQUIRES_SECOND_FACTOR = True
    every_page.enrich()
    crowd(world, ROWS)
    # Once for a connection, Django asks whether the engine knows JSON.
    assert connection.features.supports_json_field
    world.people |= {"admin": every_page.keeper(superuser=True), "staff": every_page.keeper(superuser=False)}
    pages = [*world.pages(), *(("staff", path) for path in every_page.paths())]
    # Groups are for superusers.
    pages += [("admin", path) for who, path in pages if path.startswith("/admin/auth/group/")]
    wrong: dict[str, list[object]] = {}
    clients = {who: world.client(who) for who, _ in pages}
    for who, path in pages:
        if path.startswith(f"/{OF_THE_ADMIN}"):
            # Kept answers only make it less.
            caches["responses"].clear()
        with CaptureQueriesContext(connection) as asked:
            page = clients[who].get(path)
        allowed = every_page.REFUSED if who == "staff" else {200}
        faults: list[object] = [] if page.status_code in {200, *allowed} else [page.status_code]
        if len(asked) > (MOST_QUERIES_OF_THE_ADMIN if path.startswith(f"/{OF_THE_ADMIN}") else MOST_QUERIES):
            faults.append(f"{len(asked)} queries")
        if page.status_code == 200 and page.headers["Content-Type"].startswith("text/html"):
            faults += faults_of(page.content)
            faults += [] if page.headers["Content-Security-Policy"] in OUR_POLICIES else ["another policy than ours"]
        if faults:
            wrong[f"{who} {path}"] = faults
    assert wrong == {}, "\n".join(f"{where}: {faults}" for where, faults in wrong.items())
