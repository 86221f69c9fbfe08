"""What search reads: a row of folded words for each published listing, the vocabulary, and synonyms that staff set up."""

from django.db import models
from django.db.models import Q

from .. import bounds
from .listings import Listing

TERM_CHARS = 64
SYNONYMS_CHARS = 200


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
    # Whether the store is open.
    is_shown = models.BooleanField(default=True)
    # Among the best-selling listings at the last ranking (`rank_listings`); common words are looked for among these only.
    is_popular = models.BooleanField(default=True)
    # Published since the last ranking: among the first, so that it can be noticed.
    is_new = models.BooleanField(default=True)
    # The number of purchases, and the time of publication: what equally good results are ordered by.
    popularity = models.IntegerField(default=0)
    published_at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=("published_at",), condition=Q(is_new=True), name="searchdocument_new"),)

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

    class Meta:
        constraints = (models.UniqueConstraint(fields=("term",), name="searchterm_once"),)

    def __str__(self) -> str:
        return self.term


class SearchSynonym(models.Model):
    """Words that are searched for as well where a query's word finds little: `music` also means `loops`."""

    word = models.CharField(max_length=bounds.TAG_CHARS, unique=True)
    synonyms = models.CharField(max_length=SYNONYMS_CHARS)
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering = ("word",)

    def __str__(self) -> str:
        return self.word
