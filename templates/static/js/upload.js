// One file on its way: `marketplace.upload(file, {address, headers, moved, sent})` returns {done, stop}. The browser reads the file
// from the disk while it sends; nothing of it is held here. `done` never fails: it is {status, data, problem, wait}, status 0 where
// the connection was lost and -1 where it was stopped. `marketplace.inWords` says sizes, speeds and times.
"use strict";
window.marketplace = window.marketplace || {};

marketplace.upload = (file, { address, headers, moved, sent }) => {
  const request = new XMLHttpRequest();
  const meter = marketplace.meter();
  const done = new Promise((resolve) => {
    const end = (status) => {
      let data = null;
      try {
        data = JSON.parse(request.responseText);
      } catch {
        // A proxy answered instead of the service, so the body is not JSON.
      }
      const wait = Number(request.getResponseHeader("Retry-After")) || 0;
      resolve({ status, data, wait, problem: status === 200 ? null : data && data.code ? data : { code: "", detail: "" } });
    };
    request.upload.addEventListener("progress", (event) => moved(meter(event.loaded), event.loaded / event.total));
    request.upload.addEventListener("load", () => sent());
    request.addEventListener("load", () => end(request.status));
    request.addEventListener("error", () => end(0));
    request.addEventListener("abort", () => end(-1));
  });
  request.open("POST", address);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  const form = new FormData();
  form.append("file", file);
  request.send(form);
  return { done, stop: () => request.abort() };
};

// Returns a function that takes the bytes so far and returns the speed in bytes a second, smoothed over some seconds.
marketplace.meter = (now = () => performance.now()) => {
  const SMOOTHED_OVER = 3;
  let at = now();
  let bytes = 0;
  let speed = 0;
  return (loaded) => {
    const seconds = (now() - at) / 1000;
    // Intervals that are too short give no usable speed.
    if (seconds >= 0.2) {
      const current = (loaded - bytes) / seconds;
      speed = speed ? speed + (current - speed) * (1 - Math.exp(-seconds / SMOOTHED_OVER)) : current;
      [at, bytes] = [now(), loaded];
    }
    return speed;
  };
};

marketplace.inWords = {
  size: (bytes) => {
    const units = ["bytes", "KB", "MB", "GB"];
    let unit = 0;
    while (bytes >= 1024 && unit < units.length - 1) {
      bytes /= 1024;
      unit += 1;
    }
    return `${unit ? bytes.toFixed(1) : bytes} ${units[unit]}`;
  },
  left: (seconds) => {
    if (!Number.isFinite(seconds)) return "";
    if (seconds < 5) return "a few seconds left";
    if (seconds < 55) return `about ${Math.ceil(seconds / 5) * 5} seconds left`;
    const minutes = Math.max(1, Math.round(seconds / 60));
    if (minutes < 60) return `about ${minutes} minute${minutes === 1 ? "" : "s"} left`;
    const hours = Math.floor(minutes / 60);
    return `about ${hours} hour${hours === 1 ? "" : "s"} ${minutes % 60} minutes left`;
  },
};
