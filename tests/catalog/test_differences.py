"""What changed between two texts, as editors see it."""

from time import process_time

from catalog.comparison.words import MAX_TOKENS, TextPart, mark_differences


def test_differing_words_are_marked_and_no_word_is_lost() -> None:
    before, after = mark_differences("Twelve friendly styles.", "Twelve stern styles, and one more.")
    assert [piece.text for piece in before if piece.changed] == ["friendly"]
    assert [piece.text for piece in after if piece.changed] == ["stern", ", and one more"]
    assert "".join(piece.text for piece in after) == "Twelve stern styles, and one more."


def test_long_texts_are_compared_line_by_line_and_very_long_ones_not_at_all() -> None:
    lines = [f"line {number} has a few words" for number in range(MAX_TOKENS)]
    before, after = mark_differences("\n".join(lines), "\n".join([*lines[:-1], "another"]))
    assert [piece.text for piece in before if piece.changed] == [lines[-1]]
    assert [piece.text for piece in after if piece.changed] == ["another"]
    words = "word " * MAX_TOKENS * 2
    assert mark_differences("\n" * (MAX_TOKENS + 1), words) == (
        [TextPart("\n" * (MAX_TOKENS + 1), changed=True)],
        [TextPart(words, changed=True)],
    )


def test_comparison_of_hostile_texts_takes_limited_time() -> None:
    """Many equal pieces that never lie side by side: what took difflib half a minute takes a millisecond."""
    same, apart = "!" * MAX_TOKENS, "!?" * (MAX_TOKENS // 2)
    # Of the processor, however busy the machine is.
    began = process_time()
    before, after = mark_differences(same, apart)
    assert process_time() - began < 5
    assert "".join(piece.text for piece in before) == same
    assert {piece.text for piece in after if piece.changed} == {"?"}
