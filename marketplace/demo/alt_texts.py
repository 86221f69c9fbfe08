"""Alternative texts of the pictures of the demo listings."""

from .entries import CatalogEntry

MOTION = {
    "reveal": "a disc in front of squares that turn and grow",
    "lower-thirds": "a speaker with a name and a profession on two bars",
    "loaders": "a ring, a circle of dots and a row of bars that show progress",
    "folds": "vertical folds of coloured paper with one corner lifted",
    "confetti": "confetti falling around a tick in a circle",
    "type": "the word move in rows that slide past each other",
    "titles": "a title above a short bar, on a field of waves",
}
TEMPLATES = {
    "deck": "Four slides: a title, the problem with a diagram, growth as a bar chart, and a closing slide.",
    "report": "A report: its cover, and a page of results with text and a rising line chart.",
    "resume": "A resume of one page: a dark column with a portrait, and sections for experience, education and awards.",
    "landing": "A landing page in a browser: a headline with a button beside a phone, and three features below.",
    "invitation": "Two invitation cards to a summer supper on 21 June at 7 pm, one light and one coloured.",
    "recipe": "A recipe for roasted pepper soup: a bowl on the left, five numbered steps on the right.",
}


def alt_texts_of(entry: CatalogEntry) -> tuple[str, ...]:
    """Return the alternative texts of the pictures in an entry's gallery, in their order."""
    title = entry.title
    match entry.category:
        case "fonts":
            return (
                f"The name {title} and sample letters, set in the font.",
                f"Capitals, digits and the sentence “Pack my box with five dozen jugs”, set in {title}.",
                f"A poster set in {title}: Open late every first Friday.",
            )
        case "motion":
            scene = MOTION[entry.scene]
            return f"A frame of {title}: {scene}. Below it, a time line with keys.", f"A storyboard of six frames, a second apart: {scene}."
        case "templates":
            return (TEMPLATES[entry.scene],)
        case "presets" if entry.sound:
            return (f"The waveform of {title}.",)
        case "presets":
            scene = "two people in front of a wall" if entry.scene == "portrait" else "hills under a low sun"
            return (
                f"One picture of {scene}, as it was on the left and with {title} on the right.",
                f"The whole picture with {title}: {scene}.",
            )
        case _:
            asked, *answers = entry.talk
            return (f"A chat with {title}. Asked: {asked} Answered: {' '.join(answers)}",)
