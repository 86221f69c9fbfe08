// Runs before anything is drawn: a remembered choice of light or dark must not flash in the other one.
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
