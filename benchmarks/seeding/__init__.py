"""A made-up catalog of any size, for benchmarks: its words are realistic, their frequencies follow Zipf's law, and the same seed gives the same rows."""
