// The type tester: size, spacing, axes and features of the specimen. Without this script the text can be changed all the same.
"use strict";
(() => {
  const start = (tester) => {
    const text = document.getElementById("tester-text");
    const size = document.getElementById("tester-size");
    const tracking = document.getElementById("tester-tracking");
    const axes = [...tester.querySelectorAll("[data-axis]")];
    const features = [...tester.querySelectorAll("[data-feature]")];
    const waterfall = tester.querySelector(".waterfall");

    const grow = () => {
      text.style.height = "auto";
      text.style.height = `${text.scrollHeight + 2}px`;
    };

    const apply = () => {
      const variations = axes.map((axis) => `"${axis.dataset.axis}" ${axis.value}`).join(", ") || "normal";
      const switched = features.map((box) => `"${box.dataset.feature}" ${box.checked ? 1 : 0}`).join(", ");
      for (const shown of [text, waterfall]) {
        shown.style.fontVariationSettings = variations;
        shown.style.fontFeatureSettings = switched;
        shown.style.letterSpacing = `${tracking.value / 1000}em`;
      }
      text.style.fontSize = `${size.value}px`;
      for (const slider of tester.querySelectorAll("input[type=range]")) {
        slider.parentElement.querySelector("output").value = Math.round(slider.value * 10) / 10 + slider.dataset.unit;
      }
      grow();
    };

    tester.addEventListener("input", apply);
    document.fonts.ready.then(grow);
    apply();
  };

  const tester = document.getElementById("tester");
  if (tester) start(tester);
  // A page that puts another tester in its place says so.
  document.addEventListener("tester", (event) => start(event.target));
})();
