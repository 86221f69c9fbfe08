// Shows the pictures of a gallery in a dialog: arrow keys and swipes change the picture, Esc closes. Without this script each link opens a page.
"use strict";
(() => {
  const SWIPE_PIXELS = 48;
  const TAP_PIXELS = 8;
  const dialog = document.getElementById("lightbox");
  const links = [...document.querySelectorAll("a[data-picture]")];
  if (!dialog || !links.length) return;
  const stage = dialog.querySelector(".lightbox-stage");
  const place = dialog.querySelector("[aria-live]");
  let current = 0;

  const show = (number) => {
    current = (number + links.length) % links.length;
    const { picture, width, height } = links[current].dataset;
    // The size of a picture may not be known.
    const image = width ? new Image(width, height) : new Image();
    image.draggable = false;
    image.alt = links[current].querySelector("img").alt;
    image.src = picture;
    stage.replaceChildren(image);
    place.textContent = `Picture ${current + 1} of ${links.length}`;
  };

  for (const [number, link] of links.entries()) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      show(number);
      dialog.showModal();
    });
  }

  for (const button of dialog.querySelectorAll("[data-step]")) {
    button.hidden = links.length < 2;
    button.addEventListener("click", () => show(current + Number(button.dataset.step)));
  }
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => links[current].focus());

  const numbers = { ArrowLeft: () => current - 1, ArrowRight: () => current + 1, Home: () => 0, End: () => links.length - 1 };
  dialog.addEventListener("keydown", (event) => {
    if (!(event.key in numbers) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    show(numbers[event.key]());
  });

  let from = null;
  stage.addEventListener("pointerdown", (event) => {
    // On a zoomed page, a swipe moves the view instead.
    from = event.isPrimary && (window.visualViewport?.scale ?? 1) === 1 ? event.clientX : null;
  });
  stage.addEventListener("pointercancel", () => (from = null));
  stage.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const moved = event.clientX - from;
    from = null;
    if (Math.abs(moved) > SWIPE_PIXELS) show(current - Math.sign(moved));
    else if (Math.abs(moved) < TAP_PIXELS && event.target === stage) dialog.close();
  });
})();
