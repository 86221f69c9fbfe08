// What every page gains from a script: the light and dark toggle, copy buttons, tabs that remember the language, forms sent once.
"use strict";
(() => {
  const page = document.documentElement;
  const remember = (name, value) => {
    try {
      localStorage.setItem(name, value);
    } catch {
      // Without storage the choice lasts for this page only.
    }
  };
  const remembered = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  };

  const isDark = () =>
    (page.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

  for (const button of document.querySelectorAll("[data-toggle-theme]")) {
    const tell = () => button.setAttribute("aria-pressed", String(isDark()));
    tell();
    button.addEventListener("click", () => {
      page.dataset.theme = isDark() ? "light" : "dark";
      remember("theme", page.dataset.theme);
      tell();
    });
  }

  const copy = async (button, text) => {
    // Pressed again meanwhile, it says something else.
    const words = (button.dataset.words ??= button.textContent);
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy";
    }
    setTimeout(() => (button.textContent = words), 2000);
  };

  const copyButton = () => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button-small button-quiet";
    button.textContent = "Copy";
    return button;
  };

  const addCopyButtons = (part) => {
    for (const block of part.querySelectorAll(".code")) {
      const button = copyButton();
      button.dataset.copy = "";
      button.setAttribute("aria-label", "Copy the code");
      block.append(button);
      button.addEventListener("click", () => copy(button, block.querySelector("pre").innerText.trimEnd() + "\n"));
    }
  };

  for (const button of document.querySelectorAll("button[data-copy-from]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button, document.getElementById(button.dataset.copyFrom).innerText.trim()));
  }

  const choose = (name) => {
    for (const input of document.querySelectorAll(".tabs input")) {
      if (input.dataset.tab === name) input.checked = true;
    }
  };
  const connectTabs = (part) => {
    const language = remembered("language");
    if (language) choose(language);
    for (const tabs of part.querySelectorAll(".tabs")) {
      tabs.addEventListener("change", (event) => {
        const top = tabs.getBoundingClientRect().top;
        remember("language", event.target.dataset.tab);
        choose(event.target.dataset.tab);
        // Other tabs above changed their height with this one: what was clicked stays where it is.
        scrollBy(0, tabs.getBoundingClientRect().top - top);
      });
    }
  };

  // Used by scripts that insert content into a page.
  const enliven = (part) => {
    addCopyButtons(part);
    connectTabs(part);
  };
  enliven(document);
  window.marketplace = Object.assign(window.marketplace || {}, { enliven });

  // Nothing is sent a second time while the first is on its way. No page is told that its browser was made to stop: Esc lets go of
  // the form at once, any other way after a while.
  const HELD_SECONDS = 10;
  let holding = 0;
  const release = () => {
    clearTimeout(holding);
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  };
  // What comes into the page later is held as well.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-guard], form[data-once]")) return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
    holding = setTimeout(release, HELD_SECONDS * 1000);
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") release();
  });
  // Coming back to a page that the browser kept, one may send it again.
  addEventListener("pageshow", release);

  // On a phone the list of pages is a strip: the present one is brought into view.
  const strip = document.querySelector(".side");
  const here = strip?.querySelector("[aria-current]");
  if (here) strip.scrollLeft = here.offsetLeft - strip.clientWidth / 2 + here.clientWidth / 2;

  // A download that was just asked for begins by itself.
  document.querySelector("a[data-follow]")?.click();
})();
