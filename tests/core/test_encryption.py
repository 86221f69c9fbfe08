"""What is encrypted opens for its purpose only, and under an earlier key while that is remembered."""

from typing import Any

import pytest

from marketplace.core.encryption import DecryptionFailed, decrypt, encrypt


def test_encrypted_text_is_not_readable_opens_for_no_other_purpose_and_no_change_is_taken() -> None:
    token = encrypt("hunter2", purpose="mail")
    assert "hunter2" not in token
    for wrong, purpose in ((token, "webhook"), (token[:-4] + "AAA=", "mail"), ("", "mail"), ("nothing", "mail")):
        with pytest.raises(DecryptionFailed):
            decrypt(wrong, purpose=purpose)


def test_text_of_an_earlier_key_opens_while_the_key_is_remembered(settings: Any) -> None:
    token = encrypt("hunter2", purpose="mail")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-key-" * 5
    assert decrypt(token, purpose="mail") == "hunter2"
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(DecryptionFailed):
        decrypt(token, purpose="mail")
