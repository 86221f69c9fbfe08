// The type tester's sliders. Without this script its text can still be changed, and is shown in several sizes.
(() => {
  "use strict";
  const tester = document.getElementById("type-tester");
  if (!tester) return;
  const text = tester.querySelector("textarea");
  const sliders = tester.querySelector(".sliders");
  const shown = tester.querySelectorAll(".specimen");
  const show = (slider) => {
    const unit = slider.dataset.unit ? ` ${slider.dataset.unit}` : "";
    slider.nextElementSibling.value = Number(slider.value).toFixed(unit ? 0 : 1).replace(/\.0$/, "") + unit;
  };
  const apply = () => {
    const axes = [...sliders.querySelectorAll("[data-axis]")].map((slider) => `"${slider.dataset.axis}" ${slider.value}`);
    shown.forEach((each) => {
      each.style.fontVariationSettings = axes.join(", ") || "normal";
    });
    text.style.fontSize = `${sliders.querySelector("[data-unit]").value}px`;
  };
  sliders.addEventListener("input", (event) => {
    show(event.target);
    apply();
  });
  sliders.querySelectorAll("input").forEach(show);
  sliders.hidden = false;
  apply();
})();
