"""Tables of search: a document of normalised words for each published listing, the vocabulary and the synonyms."""

from django.db import models
from django.db.models import Q

from .. import bounds
from .listings import Listing

TERM_CHARS = 64
SYNONYMS_CHARS = 200


class SearchDocument(models.Model):
    """The normalised words of a published listing, separated by single spaces.

    Migration 0002 adds the full-text index on these columns, which the database maintains: GIN indexes on PostgreSQL, an
    FTS5 table with triggers on SQLite. The id is an integer because FTS5 identifies rows by number.
    """

    id = models.BigAutoField(primary_key=True)
    listing = models.OneToOneField(Listing, on_delete=models.CASCADE, related_name="search_document")
    # Hash of the title without spaces: a query for the whole title finds it, however popular other listings are.
    title_key = models.BigIntegerField(db_index=True)
    # The words of the title, then ` | ` and their other index terms (singulars, pairs of letters).
    title = models.TextField()
    tags = models.TextField(blank=True)
    summary = models.TextField(blank=True)
    body = models.TextField(blank=True)
    # Whether the store is open.
    is_shown = models.BooleanField(default=True)
    # Among the best-selling listings at the last run of `mark_popular_listings`, or published since; common words are searched among these only.
    is_popular = models.BooleanField(default=True)
    # Published since that run; among results of equal score, every fifth place is for one.
    is_new = models.BooleanField(default=True)
    # Results with equal scores are ordered by the number of purchases, then by the time of publication.
    popularity = models.IntegerField(default=0)
    published_at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=("published_at",), condition=Q(is_new=True), name="searchdocument_new"),)

    def __str__(self) -> str:
        return f"Words of {self.listing_id}"


class SearchTerm(models.Model):
    """A word of the vocabulary with the number of documents that contain it. Words are compared byte by byte on every database.

    The row of the empty word counts all documents.
    """

    id = models.BigAutoField(primary_key=True)
    term = models.CharField(max_length=TERM_CHARS)
    documents = models.PositiveIntegerField(default=0)
    # How many of them have it in the title or the tags.
    headings = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("term",), name="searchterm_once"),)

    def __str__(self) -> str:
        return self.term


class SearchSynonym(models.Model):
    """Words that are also searched for if a query's word finds little: `loops` for `music`."""

    word = models.CharField(max_length=bounds.TAG_CHARS, unique=True)
    synonyms = models.CharField(max_length=SYNONYMS_CHARS)
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering = ("word",)

    def __str__(self) -> str:
        return self.word
