// The type tester: style, text, size, spacing, colours, axes and features. Without this script only the text can be changed.
"use strict";
(() => {
  const hex = (colour) => `#${(colour.match(/\d+/g) || [0, 0, 0]).slice(0, 3).map((each) => Number(each).toString(16).padStart(2, "0")).join("")}`;

  const start = (tester) => {
    const part = (name) => document.getElementById(`tester-${name}`);
    const [text, style, sample, ink, paper] = ["text", "style", "sample", "ink", "paper"].map(part);
    const axes = [...tester.querySelectorAll("[data-axis]")];
    const features = [...tester.querySelectorAll("[data-feature]")];
    const waterfall = tester.querySelector(".waterfall");

    const grow = () => {
      text.style.height = "auto";
      text.style.height = `${text.scrollHeight + 2}px`;
    };

    const choose = () => {
      const option = style.selectedOptions[0];
      text.className = `specimen ${option.value}`;
      const tags = option.dataset.axes.split(" ");
      for (const axis of axes) axis.parentElement.hidden = !tags.includes(axis.dataset.axis);
    };

    const apply = () => {
      const moved = axes.filter((axis) => !axis.parentElement.hidden);
      const variations = moved.map((axis) => `"${axis.dataset.axis}" ${axis.value}`).join(", ") || "normal";
      const switched = features.map((box) => `"${box.dataset.feature}" ${box.checked ? 1 : 0}`).join(", ") || "normal";
      for (const shown of [text, waterfall]) {
        if (!shown) continue;
        shown.style.fontVariationSettings = variations;
        shown.style.fontFeatureSettings = switched;
        shown.style.letterSpacing = `${part("tracking").value / 1000}em`;
      }
      text.style.fontSize = `${part("size").value}px`;
      text.style.lineHeight = part("leading").value;
      text.style.textAlign = part("align").value;
      for (const slider of tester.querySelectorAll("input[type=range]")) {
        slider.parentElement.querySelector("output").value = Math.round(slider.value * 10) / 10 + slider.dataset.unit;
      }
      grow();
    };

    tester.addEventListener("input", (event) => {
      if (event.target === style) choose();
      if (event.target === sample) {
        text.value = sample.value;
        text.dir = sample.selectedOptions[0].dataset.direction;
      }
      if (event.target === ink) text.style.color = ink.value;
      if (event.target === paper) text.style.backgroundColor = paper.value;
      apply();
    });
    ink.value = hex(getComputedStyle(text).color);
    paper.value = hex(getComputedStyle(text).backgroundColor);
    document.fonts.ready.then(grow);
    document.fonts.addEventListener("loadingdone", grow);
    if (style) choose();
    apply();
  };

  const tester = document.getElementById("tester");
  if (tester) start(tester);
  // Fired by scripts that insert another tester into the page.
  document.addEventListener("tester", (event) => start(event.target));
})();
