"""Content for a first look at the service: fonts, images, sounds and archives, all made here and all real."""
