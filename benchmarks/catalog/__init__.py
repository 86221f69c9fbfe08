"""Throughput of the public catalog: cached, revalidated, rebuilt, deep pages and counts, compared with a bare Django view."""
