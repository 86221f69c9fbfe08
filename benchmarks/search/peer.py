"""The peer: tantivy, an embedded search engine written in Rust, if its package is installed (`uv run --with tantivy`).

It indexes the same titles, tags and descriptions and is asked as its own documentation shows: the words of the query in every
field, the title weighing most, each word also with one typo, or two from eight letters.
"""

import importlib
import importlib.util
import tempfile
from types import ModuleType

from catalog.models import Listing
from catalog.models.listings import ListingStatus

NAME = "tantivy"
AVAILABLE = importlib.util.find_spec(NAME) is not None
FIELDS = {"title": 4.0, "tags": 2.8, "summary": 1.8, "body": 1.0}


def _tantivy() -> ModuleType:
    return importlib.import_module(NAME)


class Index:
    """An index of the published listings in a folder of its own."""

    def __init__(self) -> None:
        tantivy = _tantivy()
        builder = tantivy.SchemaBuilder()
        for field in FIELDS:
            builder.add_text_field(field, stored=field == "title")
        self._schema = builder.build()
        self._folder = tempfile.TemporaryDirectory(prefix="benchmark-tantivy-")
        self._index = tantivy.Index(self._schema, path=self._folder.name)
        writer = self._index.writer(heap_size=200_000_000)
        rows = Listing.objects.filter(status=ListingStatus.PUBLISHED).values_list("title", "tags", "short_description", "description")
        for title, tags, summary, body in rows.iterator(chunk_size=2000):
            writer.add_document(tantivy.Document(title=title, tags=" ".join(tags), summary=summary, body=body))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(self, query: str, limit: int) -> list[str]:
        """Return the titles of the best hits."""
        tantivy = _tantivy()
        occur, make = tantivy.Occur.Should, tantivy.Query
        clauses = []
        for word in query.lower().split():
            typos = 2 if len(word) >= 8 else 1 if len(word) >= 4 else 0
            for field, weight in FIELDS.items():
                clauses.append((occur, make.boost_query(make.term_query(self._schema, field, word), weight)))
            if typos:
                clauses.append((occur, make.fuzzy_term_query(self._schema, "title", word, distance=typos, transposition_cost_one=True)))
        found = self._searcher.search(make.boolean_query(clauses), limit)
        return [self._searcher.doc(address)["title"][0] for _, address in found.hits]
