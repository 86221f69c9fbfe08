"""Two hundred names of typefaces that people really look for."""

FAMILY_NAMES = """
Abril Fatface
Advent Pro
Akzidenz Grotesk
Alegreya Sans
Alfa Slab One
Amatic SC
Archivo Narrow
Architects Daughter
Arimo
Arvo
Asap Condensed
Assistant
Atkinson Hyperlegible
Avenir Next
Azeret Mono
Baloo Bhai
Bangers
Barlow Condensed
Baskerville
Bebas Neue
Bembo
Berkeley Mono
Big Shoulders Display
Bodoni Moda
Bookman Old Style
Bree Serif
Bricolage Grotesque
Caladea
Calibri
Cantarell
Cardo
Carlito
Cascadia Code
Caslon
Catamaran
Caveat Brush
Century Schoolbook
Chivo Mono
Cinzel Decorative
Clarendon
Comfortaa
Commissioner
Concert One
Cooper Black
Cormorant Garamond
Courier Prime
Crimson Pro
Dancing Script
Didact Gothic
Didot
Domine
Dosis
Eczar
Encode Sans
Epilogue
Eurostile
Exo
Fahkwang
Familjen Grotesk
Faustina
Figtree
Fira Code
Fjalla One
Franklin Gothic
Fraunces
Fredoka One
Frutiger
Futura
Gabarito
Garamond
Gelasio
Gill Sans
Gloock
Gotham Rounded
Goudy Old Style
Great Vibes
Gruppo
Hanken Grotesk
Haskoy
Heebo
Helvetica Neue
Hind Siliguri
Hoefler Text
Hubballi
Inconsolata
Indie Flower
Instrument Serif
Inter Tight
Iosevka
Josefin Slab
Jost
Kalam
Kanit
Karla
Kaushan Script
Khand
Kosugi Maru
Lato
League Spartan
Lexend Deca
Libre Baskerville
Literata
Lobster Two
Lora
Luckiest Guy
Lucida Grande
Macondo
Manrope
Marcellus
Martel
Maven Pro
Merriweather Sans
Monoton
Montserrat Alternates
Mukta
Mulish
Myriad
Nanum Myeongjo
Neuzeit
Newsreader
Nixie One
Noticia Text
Noto Serif
Nunito Sans
Old Standard
Optima
Orbitron
Oswald
Overpass Mono
Oxanium
Oxygen
Pacifico
Palatino
Parisienne
Passion One
Pathway Gothic
Patrick Hand
Patua One
Permanent Marker
Perpetua
Philosopher
Piazzolla
Playfair Display
Plus Jakarta Sans
Podkova
Poiret One
Poppins
Prata
Press Start
Proxima Nova
Quattrocento
Questrial
Quicksand
Radio Canada
Rajdhani
Raleway Dots
Recursive
Reem Kufi
Righteous
Roboto Flex
Rockwell
Rokkitt
Rubik Mono
Rufina
Sabon
Sacramento
Satisfy
Sarabun
Schibsted Grotesk
Secular One
Shadows Into Light
Shrikhand
Signika Negative
Slabo
Sofia Sans
Sora
Source Code Pro
Space Grotesk
Spectral
Special Elite
Stint Ultra Expanded
Syncopate
Tangerine
Teko
Tenor Sans
Titillium Web
Trajan
Trebuchet
Ubuntu Condensed
Unbounded
Univers
Urbanist
Varela Round
Vollkorn
Walbaum
Work Sans
Yanone Kaffeesatz
Yrsa
Zapfino
Zilla Slab
""".strip().splitlines()
