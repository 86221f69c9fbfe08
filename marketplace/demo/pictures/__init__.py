"""Paints the pictures of the demo listings: each shows what its files hold, a font its letters, a look a scene before and after."""
