"""Every page of the service: none is forgotten, and each asks little of the database however much there is."""

from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, resolve

from marketplace.http.pages import IMAGE_PREVIEW_POLICY, PAGE_POLICY, REDIRECTING_FORM_POLICY
from tests.admin import every_page
from tests.eager import EagerBackend
from tests.factories import UserFactory

from .markup import faults_of
from .routes import routes
from .world import NO_PAGES, World, crowd, make_world, pages_of_the_admin

# What each page asks on the other engine is in the tests of its own; a crowd takes long to make.
pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

MOST_QUERIES = 9
MOST_QUERIES_OF_THE_ADMIN = 15
# Not pages: programs call these.
OF_PROGRAMS = ("api/v1/", "mcp", ".well-known/", "healthz", "readyz", "metrics")
OUR_POLICIES = (PAGE_POLICY, REDIRECTING_FORM_POLICY, IMAGE_PREVIEW_POLICY)
# Of the admin, `tests/admin` knows every decision.
OF_THE_ADMIN = "admin/"


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(EagerBackend, "on", False)
    return make_world()


@pytest.mark.slow
def test_every_route_is_tested_as_a_page_or_listed_as_an_exception(world: World) -> None:
    shown = {resolve(path.split("?")[0]).url_name for _, path in world.pages()}
    excused = {name for names in NO_PAGES.values() for name in names}
    ours = {name for route, name in routes(get_resolver().url_patterns) if not route.startswith((*OF_PROGRAMS, OF_THE_ADMIN))}
    assert ours - shown - excused == set(), "a page that nobody looks at: put it into tests/web/world.py"
    assert excused - ours == set()
    assert excused & shown == set()


@pytest.mark.full
def test_every_page_has_valid_markup_and_few_queries_with_many_rows(world: World, settings: Any) -> None:
    # As it is in production: whether there is one is looked up for each page of the admin.
    settings.ADMIN_REQUIRES_SECOND_FACTOR = True
    every_page.enrich()
    crowd(world)
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


def test_staff_without_a_permission_is_refused_every_list_and_row_of_the_admin(world: World) -> None:
    world.people["staff"] = UserFactory(is_staff=True)
    client = world.client("staff")
    assert {path: client.get(path).status_code for path in pages_of_the_admin()} == dict.fromkeys(pages_of_the_admin(), 403)
