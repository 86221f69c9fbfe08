"""What search reads: a row of folded words for each published listing, the vocabulary, and its misspellings."""

from django.db import models

from .listings import Listing

TERM_CHARS = 64


class Tier(models.IntegerChoices):
    """How far down a listing stands: common words are looked for among the upper tiers only. `rank_listings` keeps it."""

    # Published since the last ranking: among the first, so that they can be noticed.
    NEWCOMER = 0
    TOP = 1
    UPPER = 2
    REST = 3
    # The store is closed: in no full-text index at all.
    HIDDEN = 4


class SearchDocument(models.Model):
    """The folded words of one published listing, column by column, parted by single spaces.

    The database keeps the full-text index on these columns itself (a migration of its own): GIN indexes on PostgreSQL, an
    FTS5 table with triggers on SQLite. Its id is an integer because FTS5 knows rows by number.
    """

    id = models.BigAutoField(primary_key=True)
    listing = models.OneToOneField(Listing, on_delete=models.CASCADE, related_name="search_document")
    # A number for the title's letters without spaces: who types the whole title finds it, however popular others are.
    title_key = models.BigIntegerField(db_index=True)
    # The words of the title, then ` | ` and its other forms (singulars, pairs of letters).
    title = models.TextField()
    tags = models.TextField(blank=True)
    summary = models.TextField(blank=True)
    body = models.TextField(blank=True)
    tier = models.PositiveSmallIntegerField(choices=Tier.choices, default=Tier.NEWCOMER)
    # Purchases at the last ranking: what candidates are cut by. The living count is in ListingStats, outside indexed rows.
    popularity = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"Words of {self.listing_id}"


class SearchTerm(models.Model):
    """A word of the vocabulary and in how many documents it is. Compared byte by byte on every engine.

    The empty word is in every document: its row counts them all.
    """

    id = models.BigAutoField(primary_key=True)
    term = models.CharField(max_length=TERM_CHARS)
    documents = models.PositiveIntegerField(default=0)
    # Those of them that have it in the title or the tags.
    headings = models.PositiveIntegerField(default=0)
    # Whether its misspellings are stored: rare words of descriptions are more often misspellings than meant by one.
    corrects = models.BooleanField(default=False)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("term",), name="searchterm_once"),)

    def __str__(self) -> str:
        return self.term


class SearchDelete(models.Model):
    """A word with up to two letters left out, as a number: two words are near when they share one (SymSpell).

    Millions of narrow rows: one index, the key itself, and no constraint that would be checked for each.
    """

    pk = models.CompositePrimaryKey("digest", "term_id")
    digest = models.BigIntegerField()
    term = models.ForeignKey(SearchTerm, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="deletes")

    def __str__(self) -> str:
        return f"{self.digest} {self.term_id}"
