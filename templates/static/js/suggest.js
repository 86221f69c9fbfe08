// Matches while the user types in the search of the head: htmx, which asks for them, is loaded once the field is used.
"use strict";
(() => {
  const field = document.querySelector("[data-suggest]");
  if (!field) return;
  const load = () => {
    const script = document.createElement("script");
    script.src = field.dataset.suggest;
    // What was typed before it was there is asked for as well.
    script.addEventListener("load", () => field.value && field.dispatchEvent(new Event("input")));
    document.head.append(script);
  };
  if (document.activeElement === field) load();
  else field.addEventListener("focus", load, { once: true });
})();
