"""Speed and quality of search at several sizes, compared with a lookup by primary key and an embedded search engine."""
