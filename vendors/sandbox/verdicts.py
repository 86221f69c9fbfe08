"""The exceptions with which an inspection refuses a file."""


class Unsupported(Exception):
    """The file is of no supported type; the argument is a sentence for the vendor."""


class Rejected(Exception):
    """The file is of a supported type, but damaged or hostile; the argument is a sentence for the vendor."""
