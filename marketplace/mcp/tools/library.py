"""Tools of the library."""

TOOLS = ()
