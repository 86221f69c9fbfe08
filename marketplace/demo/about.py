"""The descriptions of the demo's listings."""

PLATFORMS = {
    "fonts": "any application that takes TrueType fonts",
    "motion": "Lottie players on the web, iOS and Android",
    "templates": "any browser or HTML editor",
    "presets": "DaVinci Resolve, Premiere Pro, Photoshop and GIMP",
    "ai-skills": "assistants that read SKILL.md",
}
SOUND_PLATFORMS = "any audio workstation"
ABOUT = {
    "fonts": "Drawn on one grid, with small capitals in the place of lower case, so that titles and labels keep an even colour. "
    "Figures are as wide as each other and stand in columns. Type your own words above before you decide.",
    "motion": "Three moods of the same movement: calm, lively, and one that loops. All is vector, so it stays sharp at any size, "
    "and each colour is named once, so that it is changed in one place.",
    "templates": "Plain HTML and one style sheet, without a build step. The layout is a grid that folds into one column on a phone; "
    "words and colours are meant to be replaced by yours.",
    "presets": "A table of colours for any program that reads .cube files, with its numbers written down beside it. "
    "Lay it over graded or ungraded footage and set its strength to taste.",
    "sound": "Recorded dry and without a limiter, at 44.1 kHz, so that there is room for your own effects. "
    "Every take is its own file and begins on the first beat.",
    "ai-skills": "A folder with instructions that an assistant reads when it needs them: when to use the skill, the steps in order, "
    "a method and a checklist against which it compares its own result. It tells what it could not check.",
}


def describe(summary: str, kind: str, platforms: str, files: list[str]) -> str:
    """Return a listing's description in Markdown."""
    inside = "\n".join(f"- `{name}`" for name in files)
    return f"{summary}\n\n{ABOUT[kind]}\n\n**What you get**\n\n{inside}\n\nFor {platforms}."
