// The player of a listing's sound: a waveform to seek in, and a bar that stays in view while it plays. Without this script the browser's own controls are shown.
"use strict";
(() => {
  const player = document.querySelector("[data-player]");
  if (!player) return;
  const audio = player.querySelector("audio");
  const bar = player.querySelector(".player-bar");
  const button = bar.querySelector("[data-play]");
  const position = bar.querySelector("input");
  const place = player.parentElement;
  const length = () => (Number.isFinite(audio.duration) ? audio.duration : Number(position.max));
  const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  let seeking = false;
  let begun = false;

  const tell = () => {
    const now = seeking ? Number(position.value) : audio.currentTime;
    position.max = length();
    if (!seeking) position.value = now;
    position.setAttribute("aria-valuetext", `${clock(now)} of ${clock(length())}`);
    bar.querySelector("[data-time]").textContent = `${clock(now)} / ${clock(length())}`;
    player.style.setProperty("--played", `${(100 * now) / (length() || 1)}%`);
    button.querySelector("[data-word]").textContent = audio.paused ? "Play" : "Pause";
    player.toggleAttribute("data-playing", !audio.paused);
  };

  // Once it has been started, the player moves to the edge of the window while its place is out of view.
  let inSight = true;
  const dock = () => {
    const docked = begun && !inSight;
    if (docked && !player.classList.contains("docked")) place.style.minHeight = `${place.offsetHeight}px`;
    if (!docked) place.style.minHeight = "";
    player.classList.toggle("docked", docked);
  };
  new IntersectionObserver(([seen]) => {
    inSight = seen.isIntersecting;
    dock();
  }).observe(place);

  button.addEventListener("click", () => (audio.paused ? audio.play().catch(tell) : audio.pause()));
  bar.querySelector("[data-close]").addEventListener("click", () => {
    audio.pause();
    begun = false;
    dock();
    button.focus({ preventScroll: true });
  });
  position.addEventListener("input", () => {
    seeking = true;
    tell();
  });
  const seek = () => {
    if (!seeking) return;
    audio.currentTime = Number(position.value);
    seeking = false;
    tell();
  };
  // `change` is not fired for a slider that was moved and moved back, so other events end seeking too.
  for (const end of ["change", "pointerup", "blur"]) position.addEventListener(end, seek);
  audio.addEventListener("play", () => {
    begun = true;
    dock();
  });
  audio.addEventListener("ended", () => {
    begun = false;
    dock();
  });
  for (const change of ["play", "pause", "ended", "timeupdate", "durationchange", "seeked"]) audio.addEventListener(change, tell);

  audio.controls = false;
  bar.hidden = false;
  tell();
})();
