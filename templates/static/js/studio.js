// What the studio's forms gain from a script: nothing typed is lost by a wrong click, Ctrl+S saves.
"use strict";
(() => {
  const GUARDED = "form[data-guard]";
  const written = (form) => new URLSearchParams(new FormData(form)).toString();
  // By form, what is saved. One that came back with errors holds what was typed and never saved.
  const saved = new Map();
  const know = (form) => {
    if (!saved.has(form)) saved.set(form, form.querySelector("[aria-invalid=true], .note-error") ? null : written(form));
  };
  for (const form of document.querySelectorAll(GUARDED)) know(form);
  // One that came into the page later.
  document.addEventListener("focusin", ({ target }) => {
    const form = target.closest?.(GUARDED);
    if (form) know(form);
  });

  addEventListener("beforeunload", (event) => {
    for (const [form, was] of saved) {
      if (form.isConnected && !form.dataset.sent && written(form) !== was) event.preventDefault();
    }
  });

  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s" && !event.shiftKey && !event.altKey) {
      const form = document.activeElement?.closest(GUARDED) || (saved.size === 1 && [...saved.keys()][0]);
      if (!form) return;
      event.preventDefault();
      form.requestSubmit();
    }
  });
})();
