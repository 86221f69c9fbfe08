"""How fast and how well search answers: at several sizes, beside a look-up by primary key, and an embedded search engine."""
