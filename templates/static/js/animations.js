// Animations of a listing: each plays while it is in view, unless the system asks for less motion, and stops when its button is pressed.
"use strict";
(() => {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const pictures = new Map();

  const set = (image, playing) => {
    const { poster, button } = pictures.get(image);
    const address = playing ? image.dataset.moving : poster;
    if (image.getAttribute("src") !== address) image.src = address;
    button.textContent = playing ? "Pause" : "Play";
    button.setAttribute("aria-label", `${button.textContent} ${button.dataset.name}`);
  };

  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const picture = pictures.get(target);
      picture.seen = isIntersecting;
      set(target, isIntersecting && (picture.wanted ?? !still.matches));
    }
  }, { threshold: 0.5 });

  for (const image of document.querySelectorAll("img[data-moving]")) {
    const button = image.parentElement.querySelector("button");
    button.dataset.name = button.getAttribute("aria-label").replace(/^Play /, "");
    pictures.set(image, { poster: image.getAttribute("src"), button });
    button.addEventListener("click", () => {
      const picture = pictures.get(image);
      picture.wanted = button.textContent === "Play";
      set(image, picture.wanted);
    });
    watcher.observe(image);
  }
  still.addEventListener("change", () => {
    for (const [image, picture] of pictures) set(image, Boolean(picture.seen) && (picture.wanted ?? !still.matches));
  });
})();
