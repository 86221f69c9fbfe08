"""The form of one operation: a field for each input, made from the OpenAPI document.

It validates only the shape of a value, so that the console can show how the API responds to a wrong one.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from io import BytesIO
from typing import Any
from urllib.parse import quote, urlencode

from django import forms
from django.conf import settings
from django.core.validators import RegexValidator

from developers.models import App
from developers.services.first_party import PAGE_SCOPES
from marketplace.api.rendering import parse_json
from marketplace.core import bounds
from marketplace.core.errors import Problem

from ..docs.reference import Input, InputKind, Operation
from ..docs.snippets import ApiCall, Credential

# The callers that are no apps: the user, a call without a credential, and a call that is shown as code only.
MYSELF, NOBODY, CODE = "me", "nobody", "code"
# Texts that can be longer get a text area.
LONG_CHARS = 300
# Validators by place: `..` would change the path, and a line break would end the header.
_VALIDATORS = {
    "path": RegexValidator(r"^\.{1,2}\Z", "This value can't be used in an address: it would lead to another one.", inverse_match=True),
    "header": RegexValidator(r"^[ -~]*\Z", "A header must be one line of ASCII characters."),
}


class CallForm(forms.Form):
    """Asks for the inputs of a call and for its caller.

    `samples` are initial values by name, where the document's own sample does not exist here; `chosen` is the app that is selected at first.
    """

    def __init__(
        self, *args: Any, operation: Operation, apps: Sequence[App], samples: Mapping[str, str], chosen: str = "", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.operation = operation
        choices = _callers(operation, apps)
        first = chosen if chosen in dict(choices) else choices[0][0]
        self.fields["caller"] = forms.ChoiceField(label="Call it as", choices=choices, initial=first)
        self._inputs = {f"{each.place}-{each.name}": each for each in operation.inputs}
        for name, each in self._inputs.items():
            self.fields[name] = _field(each, samples.get(each.name, each.sample))

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField], list[forms.BoundField], bool]]:
        """The required and the optional fields by where they are sent, and whether an optional one was filled in."""
        headings = {"path": "In the address", "query": "Query", "header": "Headers", "body": "Body", "file": "File"}
        groups = []
        for place, heading in headings.items():
            if fields := [self[name] for name, each in self._inputs.items() if each.place == place]:
                optional = [field for field in fields if not field.field.required]
                required = [field for field in fields if field.field.required]
                groups.append((heading, required, optional, any(field.errors or field.value() for field in optional)))
        return groups

    def path(self) -> str:
        """Return path and query with the entered values."""
        path = self.operation.path
        for name, value in self._sent("path").items():
            path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
        query = urlencode({name: _in_query(value) for name, value in self._sent("query").items()}, quote_via=quote)
        return f"{path}?{query}" if query else path

    def call(self) -> ApiCall:
        """Return the call for the examples in code."""
        json_body = self.operation.body_type == "application/json"
        return ApiCall(
            method=self.operation.method,
            url=f"{settings.BASE_URL}{self.path()}",
            credential=_credential(self.operation, self.cleaned_data["caller"]),
            headers={name: str(value) for name, value in self._sent("header").items()},
            body=self._sent("body") if json_body else None,
            upload=any(each.place == "file" for each in self._inputs.values()),
            response_type=self.operation.response_type,
        )

    def token_request(self) -> dict[str, str] | None:
        """Return the parameters with which the page requests a token for the call; None for a call that needs none."""
        caller = self.cleaned_data["caller"]
        if caller in {NOBODY, CODE}:
            return None
        return {"scopes": scope_of(self.operation)} if caller == MYSELF else {"app": caller}

    def _sent(self, place: str) -> dict[str, Any]:
        """Return the entered values of a place; empty ones are not sent."""
        typed = {each.name: self.cleaned_data.get(name) for name, each in self._inputs.items() if each.place == place}
        return {name: value for name, value in typed.items() if value not in (None, "", [])}


def scope_of(operation: Operation) -> str:
    """Return the scope that the operation requires; empty if it requires none."""
    return next((scope for _, scopes in operation.credentials for scope in scopes), "")


def _callers(operation: Operation, apps: Sequence[App]) -> list[tuple[str, str]]:
    """Return the callers that can make the call, as choices: apps first, then the user."""
    kinds, scope = {kind for kind, _ in operation.credentials}, scope_of(operation)
    choices = []
    if not kinds:
        choices.append((NOBODY, "Nobody (no credential needed)"))
    if not kinds or "ApiKey" in kinds:
        choices += [
            (str(app.pk), app.name if not scope or scope in app.scopes else f"{app.name} (was not granted {scope})") for app in apps
        ]
    if "Bearer" in kinds and (not scope or scope in PAGE_SCOPES):
        choices.append((MYSELF, "Myself (like a personal token)"))
    reason = "None of your apps is approved yet" if "ApiKey" in kinds else "This call can't be made here"
    return choices or [(CODE, f"{reason}: see the code")]


def _credential(operation: Operation, caller: str) -> Credential:
    kinds = {kind for kind, _ in operation.credentials}
    if caller == NOBODY:
        return Credential.NONE
    return Credential.TOKEN if caller == MYSELF or (kinds and "ApiKey" not in kinds) else Credential.KEY


class JsonField(forms.Field):
    """JSON, redisplayed as it was entered."""

    def to_python(self, value: Any) -> Any:
        """Return the value, parsed as by the API: Python's parser also accepts what is not JSON."""
        if value in self.empty_values:
            return None
        try:
            return parse_json(BytesIO(str(value).encode()), 0)
        except Problem as problem:
            raise forms.ValidationError(problem.detail, code="invalid") from problem


class LinesField(forms.CharField):
    """A list of texts, one on each line."""

    def to_python(self, value: Any) -> Any:
        """Return the lines that are not empty."""
        typed = str(value or "")
        if len(typed) > bounds.LONG_TEXT_BYTES:
            raise forms.ValidationError(f"This has more than {bounds.LONG_TEXT_BYTES:,} characters.", code="max_length")
        return [line.strip() for line in typed.splitlines() if line.strip()]


class PlainDecimalField(forms.DecimalField):
    """A number as in JSON and in queries."""

    def clean(self, value: Any) -> Any:
        """Return an integer where it is one, so that 19 is not sent as 19.0."""
        number = super().clean(value)
        if isinstance(number, Decimal):
            return int(number) if number == number.to_integral_value() else float(number)
        return number


def _field(given: Input, sample: str) -> forms.Field:
    shared: dict[str, Any] = {
        "label": given.name,
        "help_text": given.description,
        "required": given.required and given.kind != InputKind.FILE,
        "initial": sample if given.required else None,
    }
    example = {} if given.required or not sample else {"placeholder": sample}
    plain = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", **example})
    match given.kind:
        case InputKind.CHOICE:
            shared["initial"] = given.choices[0] if given.required else ""
            nothing = [] if given.required else [("", "not sent")]
            return forms.ChoiceField(choices=[*nothing, *((value, value) for value in given.choices)], **shared)
        case InputKind.BOOLEAN:
            choices = [("", "not sent"), ("true", "true"), ("false", "false")]
            return forms.TypedChoiceField(
                choices=choices, coerce=lambda value: value == "true", empty_value=None, **shared | {"initial": "", "required": False}
            )
        case InputKind.INTEGER:
            return forms.IntegerField(widget=forms.NumberInput(attrs=example), **shared)
        case InputKind.NUMBER:
            return PlainDecimalField(max_digits=30, widget=forms.NumberInput(attrs={"step": "any", **example}), **shared)
        case InputKind.LINES:
            return LinesField(widget=forms.Textarea(attrs={"rows": 3}), **shared)
        case InputKind.JSON:
            return JsonField(widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}), **shared)
        case InputKind.FILE:
            return forms.FileField(**shared)
        case _:
            long = given.max_length is not None and given.max_length > LONG_CHARS and given.place == "body"
            widget = forms.Textarea(attrs={"rows": 4}) if long else plain
            validators = [_VALIDATORS[given.place]] if given.place in _VALIDATORS else []
            return forms.CharField(max_length=bounds.LONG_TEXT_BYTES, strip=False, widget=widget, validators=validators, **shared)


def _in_query(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list) else str(value)


# What the page asks before it makes a call, by the operation's id.
CONFIRMATIONS = {
    "buyAsset": "This is a real purchase: your wallet is charged at once, within the limits that you set for this app.",
    "updateListing": "A published listing changes at once, including its price: buyers see and pay it.",
    "deleteListing": "The draft is deleted with its files and previews. This can't be undone.",
    "setRegionalPrices": "A published listing changes at once: buyers pay the new prices.",
    "setLicensing": "A published listing changes at once: buyers are offered these licences.",
    "unpublishListing": "The listing leaves the catalog at once. To be sold again it must be reviewed again.",
    "reportLeakedCredentials": "The credentials you name are revoked permanently, and their owners get an email. The response doesn't show whether they were valid.",
}
