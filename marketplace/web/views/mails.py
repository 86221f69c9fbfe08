"""Mail preferences, and the unsubscribe link of mails."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from marketplace.accounts.mail_preferences import mail_topics_of, set_mail_topics, subscription_of, unsubscribe
from marketplace.accounts.pages import SignedInRequest, posted, render_form, signed_in_page
from marketplace.http.refusals import allow_methods

from ..forms import MailTopicsForm


@signed_in_page("GET", "POST")
def preferences(request: SignedInRequest) -> HttpResponseBase:
    """Choose the topics of mails."""
    chosen = sorted(mail_topics_of(request.user))
    form = MailTopicsForm(posted(request), initial={"topics": chosen})
    if form.is_valid():
        set_mail_topics(user=request.user, topics=form.cleaned_data["topics"])
        messages.success(request, "Saved.")
        return redirect("account-mails")
    return render_form(request, "account/mails.html", form)


@csrf_exempt
@never_cache
@allow_methods("GET", "POST")
def unsubscribe_page(request: HttpRequest, token: str) -> HttpResponseBase:
    """Unsubscribe from a topic without signing in (RFC 8058), by POST, because some mail programs open all links."""
    user, topic = subscription_of(token=token)
    if request.method == "POST":
        unsubscribe(user=user, topic=topic)
    return render(request, "account/unsubscribe.html", {"topic": topic, "done": request.method == "POST"})
