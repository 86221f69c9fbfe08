"""The quickstart, what it sells, and the past that it writes."""
