// What the studio's forms gain from a script: nothing typed is lost by a wrong click, nothing is sent twice, Ctrl+S saves.
"use strict";
(() => {
  // Nothing is sent a second time while the first is on its way.
  for (const form of document.querySelectorAll("form[data-guard], form[data-once]")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = "yes";
    });
  }
  // Coming back to a page that the browser kept, one may send it again.
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });

  const guarded = document.querySelector("form[data-guard]");
  if (!guarded) return;

  const written = () => new URLSearchParams(new FormData(guarded)).toString();
  // A form that came back with errors holds what was typed and never saved.
  const saved = guarded.querySelector("[aria-invalid=true], .note-error") ? null : written();
  addEventListener("beforeunload", (event) => {
    if (!guarded.dataset.sent && written() !== saved) event.preventDefault();
  });

  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      guarded.requestSubmit();
    }
  });
})();
