// What is told of a field when one has left it is tied to the field as a form that came back with errors ties it.
"use strict";
(() => {
  const tells = (target) => target.matches?.("[data-told]");

  // Where nothing can be told (signed out meanwhile, asked too often, something is down), what was told before no longer holds.
  document.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
    if (!tells(target) || detail.xhr.status === 200) return;
    detail.serverResponse = "";
    detail.shouldSwap = true;
  });

  document.addEventListener("htmx:afterSwap", ({ target }) => {
    if (!tells(target)) return;
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
