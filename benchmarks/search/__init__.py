"""How fast and how well search answers: at several sizes, beside a look-up by primary key, pgbench and an embedded search engine."""
