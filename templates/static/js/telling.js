// What is told of a field when one has left it is tied to the field as a form that came back with errors ties it.
"use strict";
document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (!target.matches?.("[data-told]")) return;
  const input = target.parentElement.querySelector("input, textarea, select");
  const error = `${input.id}_error`;
  const others = (input.getAttribute("aria-describedby") || "").split(" ").filter((id) => id && id !== error);
  const wrong = target.querySelector(".errorlist") !== null;
  const described = wrong ? [...others, error] : others;
  wrong ? input.setAttribute("aria-invalid", "true") : input.removeAttribute("aria-invalid");
  described.length ? input.setAttribute("aria-describedby", described.join(" ")) : input.removeAttribute("aria-describedby");
});
