"""Indexes of skills for agents (Agent Skills Discovery 0.2.0), the archives that they name, and links to owned ones."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_safe

from library import bounds
from library.agent_skills import AgentSkill, archive_of, free_skills, owned_skills, skills_by_name, token_for, user_of_token
from library.errors import FileBlocked, LicenseSuspended, LinkRevoked
from marketplace.accounts.pages import SignedInRequest, signed_in_page

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"


@require_safe
def index(_request: HttpRequest, token: str | None = None) -> HttpResponse:
    """List the skills that everyone can have, or those that the user of a token owns."""
    entries = [
        {
            "name": name,
            "type": "archive",
            "description": skill.description,
            # Relative to the index.
            "url": f"{skill.listing.slug}.zip",
            "digest": f"sha256:{skill.file.sha256}",
        }
        for name, skill in skills_by_name(_skills(token)).items()
    ]
    caching = "public, max-age=60" if token is None else "private, no-store"
    return JsonResponse({"$schema": SCHEMA, "skills": entries}, headers={"Cache-Control": caching})


@require_GET
def archive(_request: HttpRequest, slug: str, token: str | None = None) -> HttpResponse:
    """Return the archive of a skill of the index, with exactly the bytes that a reviewer approved."""
    try:
        (skill,) = _skills(token, slug)
        content = archive_of(skill)
    except (ValueError, LinkRevoked, LicenseSuspended, FileBlocked) as error:
        raise Http404 from error
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment"}
    return HttpResponse(content, content_type="application/zip", headers=headers)


@signed_in_page("POST")
def link(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Show the command that installs an owned skill; its address works without the session, for a while."""
    skills = skills_by_name(owned_skills(request.user))
    found = next(((name, skill) for name, skill in skills.items() if skill.listing.slug == slug), None)
    if found is None:
        raise Http404
    name, skill = found
    address = reverse("agent-skills-owned", args=[token_for(request.user)]).removesuffix("/.well-known/agent-skills/index.json")
    context = {
        "listing": skill.listing,
        # With telemetry, the client would send the address, which is a credential, to those who make it.
        "command": f"DISABLE_TELEMETRY=1 npx skills add {settings.BASE_URL}{address} --skill {name}",
        "minutes": bounds.AGENT_SKILLS_TOKEN_SECONDS // 60,
    }
    return render(request, "buyer/agent_skill.html", context)


def _skills(token: str | None, slug: str | None = None) -> list[AgentSkill]:
    return free_skills(slug) if token is None else owned_skills(user_of_token(token), slug)
