"""What changed between two texts, as editors see it."""

from time import process_time

from catalog.admin.differences import PIECES, Piece, marked


def test_words_that_differ_are_marked_and_all_words_are_there() -> None:
    before, after = marked("Twelve friendly styles.", "Twelve stern styles, and one more.")
    assert [piece.text for piece in before if piece.changed] == ["friendly"]
    assert [piece.text for piece in after if piece.changed] == ["stern", ", and one more"]
    assert "".join(piece.text for piece in after) == "Twelve stern styles, and one more."


def test_long_texts_are_compared_line_by_line_and_very_long_ones_not_at_all() -> None:
    lines = [f"line {number} has a few words" for number in range(PIECES)]
    before, after = marked("\n".join(lines), "\n".join([*lines[:-1], "another"]))
    assert [piece.text for piece in before if piece.changed] == [lines[-1]]
    assert [piece.text for piece in after if piece.changed] == ["another"]
    words = "word " * PIECES * 2
    assert marked("\n" * (PIECES + 1), words) == ([Piece("\n" * (PIECES + 1), changed=True)], [Piece(words, changed=True)])


def test_texts_that_were_made_to_be_compared_for_long_take_no_longer_than_others() -> None:
    """Many equal pieces that never lie side by side: what took difflib half a minute takes a millisecond."""
    same, apart = "!" * PIECES, "!?" * (PIECES // 2)
    # Of the processor, however busy the machine is.
    began = process_time()
    before, after = marked(same, apart)
    assert process_time() - began < 5
    assert "".join(piece.text for piece in before) == same
    assert {piece.text for piece in after if piece.changed} == {"?"}
