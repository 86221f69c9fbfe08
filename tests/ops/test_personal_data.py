"""What an export of an account shows of a person, and what a deletion leaves, for every column of every table."""

import json
from collections import defaultdict
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from marketplace.accounts.services import delete_account
from marketplace.operations.personal_data import export_lines

from ..factories import UserFactory
from .person import MARKS, Person, is_there, marks_in, stored_marks
from .personal_data import HOLDINGS, IMPERSONAL, OTHER_KEYS, faults_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def exported(person: Person) -> dict[str, Any]:
    """Return the person's export, as it is read from its file; a section has a list of rows."""
    found = json.loads("".join(export_lines(person.user)))
    return {section: rows if isinstance(rows, list) else [rows] for section, rows in found.items()}


def test_every_model_and_text_column_is_declared() -> None:
    assert faults_of(HOLDINGS, IMPERSONAL) == []


def test_export_has_every_declared_column_and_no_other_and_that_of_someone_else_nothing_of_the_person() -> None:
    person = Person()
    # There is something to be found everywhere.
    assert person.rows.keys() == {holding.name for holding in HOLDINGS}
    assert stored_marks() == {f"{name}.{column}" for name, column in MARKS}
    expected: defaultdict[str, set[str]] = defaultdict(set)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for holding in HOLDINGS:
        for column, place in holding.places.items():
            expected[place].add(f"{holding.name}.{column}")
    sections = exported(person)
    for section, rows in sections.items():
        for key, value in ((key, value) for row in rows for key, value in row.items()):
            found[f"{section}.{key}"] |= marks_in(value)
    assert {place: names for place, names in found.items() if names} == expected
    keys = {f"{section}.{key}" for section, words in OTHER_KEYS.items() for key in words.split()} | expected.keys()
    assert {f"{section}.{key}" for section, rows in sections.items() for row in rows for key in row} == keys
    assert marks_in("".join(export_lines(UserFactory()))) == set()


def test_deletion_leaves_what_is_declared_kept_and_nothing_else_and_that_of_someone_else_everything() -> None:
    person = Person()
    delete_account(user=UserFactory(), reason="Asked for.", actor=None)
    assert all(map(is_there, person.rows.values()))
    assert stored_marks() == {f"{name}.{column}" for name, column in MARKS}
    delete_account(user=person.user, reason="Asked for.", actor=None)
    rows = {name for name, row in person.rows.items() if is_there(row)}
    assert rows == {holding.name for holding in HOLDINGS if holding.kept}
    assert stored_marks() == {f"{holding.name}.{column}" for holding in HOLDINGS for column in holding.remaining}
    user, store, profile = person.user, person.rows["catalog.Store"], person.rows["vendors.VendorProfile"]
    for row in (user, store, profile):
        row.refresh_from_db()
    assert (profile.status, profile.decided_by, profile.decided_at > person.now) == ("Suspended", None, True)
    assert (user.is_active, user.has_usable_password(), user.last_login, store.is_open) == (False, False, None, False)


def test_session_of_a_deleted_account_is_signed_out(client: Client) -> None:
    user = UserFactory()
    client.force_login(user)
    assert client.get(reverse("account")).status_code == 200
    delete_account(user=user, reason="Asked for.", actor=None)
    assert client.get(reverse("account")).status_code == 302
