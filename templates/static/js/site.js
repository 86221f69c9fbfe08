// Scripts of every page: the toggle of the colour scheme, copy buttons, tabs that remember the language, protection against submitting twice.
"use strict";
(() => {
  const page = document.documentElement;
  const remember = (name, value) => {
    try {
      localStorage.setItem(name, value);
    } catch {
      // Without storage the choice is lost with the page.
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
    // The original label: the button may show another one when it is pressed again.
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
        // Tabs further up may have changed their height: keeps the clicked tab in the same place.
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

  // A form cannot be submitted again while the first request is in progress. Pages get no event when the browser stops loading, so Esc
  // releases the form at once, and a timeout releases it in other cases.
  const HELD_SECONDS = 10;
  let holding = 0;
  const release = () => {
    clearTimeout(holding);
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  };
  // Delegated, so that forms inserted later are included.
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
  // A page restored from the browser's cache can be submitted again.
  addEventListener("pageshow", release);

  // On a phone the list of pages is a horizontal strip: scrolls to the current one.
  const strip = document.querySelector(".side");
  const here = strip?.querySelector("[aria-current]");
  if (here) strip.scrollLeft = here.offsetLeft - strip.clientWidth / 2 + here.clientWidth / 2;

  // Starts a download that was just requested.
  document.querySelector("a[data-follow]")?.click();
})();
