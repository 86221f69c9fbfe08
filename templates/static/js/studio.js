// What the studio's forms gain from a script: nothing typed is lost by a wrong click, Ctrl+S saves.
"use strict";
(() => {
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
