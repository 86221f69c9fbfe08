"""Prepared reasons in the admin: staff maintain them, decision forms offer them."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from ..admin_base import Base
from ..errors import InvalidInput
from ..models import ReadyUse, ReadyWords
from ..ready_words import WORDS_CHARS, save_ready_words, words_for
from ..texts import line
from .decisions import ReasonForm
from .panels import QuerySets
from .service import staff_of

if TYPE_CHECKING:
    WordsBase = forms.ModelForm[ReadyWords]
else:
    WordsBase = forms.ModelForm


class ReadyForm(ReasonForm):
    """A reason that is ready, one in one's own words, or both."""

    use: ReadyUse
    ready = forms.ChoiceField(label="Saved reply", required=False)
    field_order = ("ready", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offered = {str(ready.pk): ready.words for ready in self.related[self.use]}
        self.fields["ready"].choices = [("", "None (use my own text)"), *self.offered.items()]  # type: ignore[attr-defined]  # it is a choice field
        self.fields["reason"].required = False
        if not self.offered:
            del self.fields["ready"]

    @classmethod
    def querysets(cls, subject: Any) -> QuerySets:
        """Return the words that are kept for the decision."""
        return {**super().querysets(subject), cls.use: words_for(cls.use)}

    def clean(self) -> dict[str, Any]:
        """Put both together."""
        cleaned = super().clean() or self.cleaned_data
        ready = self.offered.get(cleaned.get("ready", ""), "")
        cleaned["reason"] = "\n\n".join(filter(None, (ready, cleaned.get("reason", "").strip())))
        if not cleaned["reason"] and "reason" not in self.errors:
            self.add_error("reason", "Choose a prepared text, or write your own.")
        return cleaned


def ready_form(use: ReadyUse, base: type[ReasonForm] = ReasonForm) -> type[ReasonForm]:
    """Return a decision's form that offers the words kept for it.

    Args:
        use: The decision.
        base: What else the form asks.
    """
    return type("ReadyForm", (ReadyForm, base) if base is not ReasonForm else (ReadyForm,), {"use": use})


class ReadyWordsForm(WordsBase):
    """Words, judged before they are kept."""

    class Meta:
        model = ReadyWords
        fields = ("use", "words", "is_active")

    def clean_words(self) -> str:
        """Refuse what is more than a line."""
        try:
            return line(self.cleaned_data["words"], "words", maximum=WORDS_CHARS)
        except InvalidInput as problem:
            raise forms.ValidationError(problem.message) from problem


@admin.register(ReadyWords)
class ReadyWordsAdmin(Base):
    """Words by decision; what is no longer wanted is put out of use."""

    form = ReadyWordsForm
    list_display = ("words", "use", "is_active")
    list_filter = ("use", "is_active")
    search_fields = ("words",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: they are put out of use."""
        return False

    def save_model(self, request: HttpRequest, obj: ReadyWords, form: "forms.ModelForm[ReadyWords]", change: bool) -> None:  # noqa: FBT001 - Django's signature
        """Keep the words through their service."""
        save_ready_words(ready=obj, changed=form.changed_data, actor=staff_of(request))
