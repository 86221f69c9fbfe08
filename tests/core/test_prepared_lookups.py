"""Look-ups with their related rows: what the ORM would return, in one query."""

from typing import Any

import pytest

from developers.models import AccessToken
from marketplace.core.db.lookups import PreparedLookup
from tests.developers.cases import token_of

pytestmark = pytest.mark.django_db

RELATED = ("user", "application", "application__user")


def values_of(row: Any) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.mark.parametrize("kind", ["oauth", "mcp", "personal"])
def test_row_comes_with_its_related_rows_as_the_orm_reads_them(kind: str, django_assert_num_queries: Any) -> None:
    token, _ = token_of(kind)
    expected = AccessToken.objects.select_related(*RELATED).get(pk=token.pk)
    with django_assert_num_queries(1):
        found = PreparedLookup(AccessToken, "token_checksum", RELATED).find(token.token_checksum)
        assert found is not None
        pairs: list[tuple[Any, Any]] = [(found, expected), (found.user, expected.user)]
        if expected.application is None:
            assert found.application is None
        else:
            pairs += [(found.application, expected.application), (found.application.user, expected.application.user)]  # type: ignore[union-attr]  # there is one
    for mine, theirs in pairs:
        assert (type(mine), values_of(mine)) == (type(theirs), values_of(theirs))


@pytest.mark.parametrize("value", ["", "0" * 64, "' OR 1=1 --"])
def test_unknown_value_finds_nothing(value: str) -> None:
    token_of("mcp")
    assert PreparedLookup(AccessToken, "token_checksum", RELATED).find(value) is None


def test_found_row_can_be_saved() -> None:
    token, _ = token_of("mcp")
    found = PreparedLookup(AccessToken, "token_checksum", RELATED).find(token.token_checksum)
    assert found is not None
    found.name = "renamed"
    found.save()
    assert AccessToken.objects.get(pk=token.pk).name == "renamed"
