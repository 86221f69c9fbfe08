"""The exceptions with which an inspection refuses a file."""


class Unsupported(Exception):
    """Not one of the types that are taken; the argument says what it looks like."""


class Rejected(Exception):
    """Of a known type, but damaged or hostile; the argument is a sentence for the vendor."""
