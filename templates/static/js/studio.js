// Forms of the studio: warns before unsaved changes are lost; Ctrl+S saves.
"use strict";
(() => {
  const GUARDED = "form[data-guard]";
  const written = (form) => new URLSearchParams(new FormData(form)).toString();
  // The saved values by form; null for a form with errors, whose values are not saved.
  const saved = new Map();
  const know = (form) => {
    if (!saved.has(form)) saved.set(form, form.querySelector("[aria-invalid=true], .note-error") ? null : written(form));
  };
  for (const form of document.querySelectorAll(GUARDED)) know(form);
  // Forms inserted later.
  document.addEventListener("focusin", ({ target }) => {
    const form = target.closest?.(GUARDED);
    if (form) know(form);
  });
  // For scripts that insert a form and then restore what was typed into it.
  window.marketplace = Object.assign(window.marketplace || {}, { guard: know });

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
