"""The quickstart, and what it sells: fonts, pictures, sounds and archives, all made for it and free to use."""
