"""The protocol's public conformance suite, run against a server of ours as operators start it."""
