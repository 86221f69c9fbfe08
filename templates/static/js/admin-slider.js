// Shows two versions of a picture on top of each other, with a slider between them. Without this script they are side by side.
(() => {
  "use strict";
  for (const figure of document.querySelectorAll("[data-slider]")) {
    if (figure.querySelectorAll("img").length !== 2) continue;
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 0, max: 100, value: 50 });
    slider.setAttribute("aria-label", `${figure.querySelector("figcaption").textContent}: how much is shown of the picture before`);
    slider.addEventListener("input", () => figure.style.setProperty("--shown", `${slider.value}%`));
    figure.querySelector(".pair").after(slider);
    figure.classList.add("sliding");
  }
})();
