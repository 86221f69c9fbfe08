// Runs before the first paint, so that the page does not flash in the other colour scheme.
"use strict";
(() => {
  const page = document.documentElement;
  page.classList.add("scripted");
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") page.dataset.theme = chosen;
  } catch {
    // Without storage the system's scheme is used.
  }
})();
