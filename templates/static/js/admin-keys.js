// Keyboard shortcuts of review pages: each key activates the element that names it. No action is available by key only.
(() => {
  "use strict";
  const dialog = document.getElementById("keys");
  if (!dialog) return;
  const opener = document.querySelector("[data-opens=keys]");
  const box = document.getElementById("keys-on");
  const STORED = "admin-keys";
  const writes = (element) =>
    element.matches("textarea, select, [contenteditable]") ||
    (element.matches("input") && !["checkbox", "radio", "range", "button", "submit"].includes(element.type));
  const seen = (element) => element.getClientRects().length > 0;
  const first = (part) => [...part.querySelectorAll("input:not([type=hidden]), select, textarea, button")].find(seen);
  const lead = (part) => {
    const field = part.querySelector("input:checked") || first(part);
    if (!field) return;
    part.scrollIntoView({ block: "nearest" });
    field.focus();
  };
  const send = (form) => {
    const button = form && form.querySelector("button[name=then]");
    if (button) form.requestSubmit(button);
    return Boolean(button);
  };
  const press = (key) => {
    if (key === "/") return document.querySelector("#admin-search input")?.focus();
    if (key === "j") return lead(document.querySelector("[data-reasons]") || document.getElementById("subject-decide"));
    const target = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find(seen);
    if (!target) return null;
    return target.matches("a, button") ? target.click() : lead(target);
  };
  const known = (key) => key === "/" || key === "j" || document.querySelector(`[data-key="${CSS.escape(key)}"]`);

  opener.hidden = false;
  box.checked = localStorage.getItem(STORED) !== "off";
  box.addEventListener("change", () => localStorage.setItem(STORED, box.checked ? "on" : "off"));
  opener.addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
      if (send(target.closest(".subject-decide form"))) event.preventDefault();
      return;
    }
    if (key === "Escape" && writes(target)) target.blur();
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || writes(target)) return;
    if ((box.checked || key === "?") && key.length === 1 && known(key)) {
      event.preventDefault();
      press(key);
    }
  });
})();
