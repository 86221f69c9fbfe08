// Connects the errors that a live check returns with their field, as in a form that was submitted with errors.
"use strict";
(() => {
  const isCheck = (target) => target.matches?.("[data-live-check]");

  // Without a response (signed out, rate limit, an error) the errors shown before may be outdated.
  document.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
    if (!isCheck(target) || detail.xhr.status === 200) return;
    detail.serverResponse = "";
    detail.shouldSwap = true;
  });

  document.addEventListener("htmx:afterSwap", ({ target }) => {
    if (!isCheck(target)) return;
    const holder = target.parentElement;
    const input = holder.matches("fieldset") ? holder : holder.querySelector("input, textarea, select");
    const error = `${input.id}_error`;
    const others = (input.getAttribute("aria-describedby") || "").split(" ").filter((id) => id && id !== error);
    const wrong = target.querySelector(".errorlist") !== null;
    const described = wrong ? [...others, error] : others;
    wrong ? input.setAttribute("aria-invalid", "true") : input.removeAttribute("aria-invalid");
    described.length ? input.setAttribute("aria-describedby", described.join(" ")) : input.removeAttribute("aria-describedby");
  });
})();
