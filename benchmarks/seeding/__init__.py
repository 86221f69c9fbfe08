"""A made-up catalog of any size, for measurements: realistic words, Zipf's law in what is frequent, the same rows for the same seed."""
