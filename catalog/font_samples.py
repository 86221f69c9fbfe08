"""Sample texts of the type testers, by the scripts that a font declares."""

import string
from collections.abc import Iterable
from dataclasses import dataclass

LATIN = "Hamburgefonstiv 0123456789 — “Quick wafting zephyrs vex bold Jim.” & @ € $ ₹"


@dataclass(frozen=True)
class Sample:
    """A sample text in one script; its direction is `ltr` or `rtl`."""

    script: str
    text: str
    direction: str = "ltr"


# By the name of the range in the OpenType specification.
BY_RANGE = {
    "Latin-1 Supplement": Sample("Western European", "Voix ambiguë au cœur, çà et là; größer, señor, Ærø, façade"),
    "Latin Extended-A": Sample("Central European", "Příliš žluťoučký kůň; zażółć gęślą jaźń; árvíztűrő İğne"),
    "Greek and Coptic": Sample("Greek", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία"),
    "Cyrillic": Sample("Cyrillic", "Съешь ещё этих мягких французских булок, да выпей чаю"),
    "Hebrew": Sample("Hebrew", "דג סקרן שט בים מאוכזב ולפתע מצא חברה", "rtl"),
    "Arabic": Sample("Arabic", "نص حكيم له سر قاطع وذو شأن عظيم", "rtl"),
    "Devanagari": Sample("Devanagari", "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा"),
    "Thai": Sample("Thai", "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า"),
    "Hiragana": Sample("Japanese", "いろはにほへと ちりぬるを 我が世誰ぞ常ならむ"),
    "Hangul Syllables": Sample("Korean", "다람쥐 헌 쳇바퀴에 타고파"),
    "CJK Unified Ideographs": Sample("Chinese", "天地玄黃 宇宙洪荒 永和九年"),
}

# The characters of the subsets that the type tester loads: A to Z, figures, and all characters of these texts.
REPERTOIRE = "".join(
    sorted(
        {
            *string.ascii_letters,
            *string.digits,
            *" .,:;!?'\"()-\u2013/",
            *LATIN,
            *(letter for each in BY_RANGE.values() for letter in each.text),
        }
    )
)


def samples_for(unicode_ranges: Iterable[str]) -> list[Sample]:
    """Return a sample for each covered script, always with Latin first."""
    covered = set(unicode_ranges)
    return [Sample("Latin", LATIN), *(sample for name, sample in BY_RANGE.items() if name in covered)]
