// What the studio's forms gain from a script: nothing typed is lost by a wrong click, nothing is sent twice, Ctrl+S saves.
"use strict";
(() => {
  // Nothing is sent a second time while the first is on its way. No page is told that its browser was made to stop: Esc lets go of
  // the form at once, any other way after a while. What is then sent twice all the same, the server takes once.
  const HELD_SECONDS = 10;
  let holding = 0;
  const release = () => {
    clearTimeout(holding);
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  };
  for (const form of document.querySelectorAll("form[data-guard], form[data-once]")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) return event.preventDefault();
      form.dataset.sent = "yes";
      holding = setTimeout(release, HELD_SECONDS * 1000);
    });
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") release();
  });
  // Coming back to a page that the browser kept, one may send it again.
  addEventListener("pageshow", release);

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
