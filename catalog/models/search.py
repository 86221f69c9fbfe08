"""What search reads: a row of folded words for each published listing, the vocabulary, and its misspellings."""

from django.db import models

from .listings import Listing

TERM_CHARS = 64


class SearchDocument(models.Model):
    """The folded words of one published listing, column by column, parted by single spaces.

    The database keeps the full-text index on these columns itself (migration 0003): a GIN index on PostgreSQL, an FTS5
    table with triggers on SQLite. Its id is an integer because FTS5 knows rows by number.
    """

    id = models.BigAutoField(primary_key=True)
    listing = models.OneToOneField(Listing, on_delete=models.CASCADE, related_name="search_document")
    # The words of the title, then ` | ` and its other forms (singulars, pairs of letters).
    title = models.TextField()
    tags = models.TextField(blank=True)
    summary = models.TextField(blank=True)
    body = models.TextField(blank=True)
    # 0 for the most bought few thousand and for new ones, 1 for the next, 2 for the rest (findings: search).
    level = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return f"Words of {self.listing_id}"


class SearchTerm(models.Model):
    """A word of the vocabulary and in how many documents it is. Compared byte by byte on every engine."""

    id = models.BigAutoField(primary_key=True)
    term = models.CharField(max_length=TERM_CHARS)
    documents = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("term",), name="searchterm_once"),)

    def __str__(self) -> str:
        return self.term


class SearchDelete(models.Model):
    """A word with up to two letters left out, as a number: two words are near when they share one (SymSpell)."""

    id = models.BigAutoField(primary_key=True)
    digest = models.BigIntegerField()
    term = models.ForeignKey(SearchTerm, on_delete=models.CASCADE, related_name="deletes")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("digest", "term"), name="searchdelete_once"),)

    def __str__(self) -> str:
        return f"{self.digest} {self.term_id}"


class CatalogGeneration(models.Model):
    """Counters whose sum changes with every commit that changes a public answer.

    Shard 0 counts changes of listings, stores and taxonomy, and is the lock under which the search index is written.
    The others count purchases, several so that buyers of different listings do not wait for each other.
    """

    shard = models.PositiveSmallIntegerField(primary_key=True)
    value = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.shard}: {self.value}"
