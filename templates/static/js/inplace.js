// Updates parts of a page without a reload. Without this script, links and forms lead to whole pages; here the page is fetched,
// and the relevant part of it is inserted.
//   a[data-asks]        shows the confirmation form of its page in the next .in-place
//   form[data-part]     is submitted, and the element of the response that the selector names replaces the one here
//   [data-again][id]    is fetched again after this many seconds
"use strict";
(() => {
  const fetched = async (address, options) => {
    const response = await fetch(address, { headers: { Accept: "text/html" }, ...options });
    return new DOMParser().parseFromString(await response.text(), "text/html");
  };

  // Replaces an element by the same element of another page; returns null if that has none, such as a sign-in page.
  const replace = (selector, from) => {
    const fresh = from.querySelector(selector);
    if (!fresh) return null;
    document.querySelector(selector).replaceWith(fresh);
    window.marketplace.enliven(fresh);
    lookAgain(fresh);
    return fresh;
  };

  const lookAgain = (part) => {
    for (const waiting of [...part.querySelectorAll("[data-again][id]"), ...(part.matches?.("[data-again][id]") ? [part] : [])]) {
      setTimeout(async () => {
        if (!waiting.isConnected) return;
        try {
          replace(`#${waiting.id}`, await fetched(location.href));
        } catch {
          // The element stays as it is; the user can reload the page.
        }
      }, waiting.dataset.again * 1000);
    }
  };

  // The link whose confirmation form is shown; it gets the focus back on cancel.
  let asked = null;
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-asks]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    asked = link;
    try {
      const question = (await fetched(link.href)).getElementById("confirm");
      if (asked !== link) return;
      const places = [...document.querySelectorAll(".in-place")];
      const place = places.find((each) => link.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
      for (const each of places) each.replaceChildren();
      place.replaceChildren(question);
      question.focus();
    } catch {
      location.assign(link.href);
    }
  });

  document.addEventListener("click", (event) => {
    const place = event.target.closest(".in-place");
    if (!place || !event.target.closest("a[data-cancel]")) return;
    event.preventDefault();
    place.replaceChildren();
    asked.focus();
  });

  document.addEventListener("submit", async (event) => {
    const form = event.target.closest("form[data-part]");
    if (!form) return;
    event.preventDefault();
    try {
      const shown = replace(form.dataset.part, await fetched(form.action, { method: "POST", body: new FormData(form) }));
      if (!shown) return location.reload();
      shown.querySelector(".notes")?.focus({ preventScroll: true });
      shown.querySelector(".notes")?.scrollIntoView({ block: "nearest" });
    } catch {
      form.submit();
    }
  });

  lookAgain(document);
})();
