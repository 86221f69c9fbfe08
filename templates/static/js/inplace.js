// Parts of a page that change without a reload. Each works without this: a link that asks once more leads to a page that asks, a
// form is answered with a page. Here the page is fetched, and what of it is wanted put in place.
//   a[data-asks]        shows the question of its page in the next .in-place
//   form[data-part]     is sent, and the part of the answer that the selector names takes the place of that part here
//   [data-again][id]    is fetched again after as many seconds
"use strict";
(() => {
  const fetched = async (address, options) => {
    const response = await fetch(address, { headers: { Accept: "text/html" }, ...options });
    return new DOMParser().parseFromString(await response.text(), "text/html");
  };

  // What is put in place must be what stood there: anything else, such as the page to sign in, is shown as a page.
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
          // It stays as it is; a reload shows more.
        }
      }, waiting.dataset.again * 1000);
    }
  };

  // The link whose question stands in place: whoever cancels goes on from there.
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
