// Uploads files: `marketplace.upload(file, {address, headers, moved, sent})` sends it in one request, `marketplace.uploadInParts`
// in parts, so that an interrupted upload is continued. Both return {done, stop}. The browser reads the file from the disk while it
// sends it; it is not held in memory. `done` never rejects: it resolves to {status, data, problem, wait}, with status 0 if the connection
// was lost and -1 if it was stopped. `marketplace.inWords` formats sizes and remaining times.
"use strict";
window.marketplace = window.marketplace || {};

marketplace.transfer = (method, address, { headers = {}, body = null, progress = () => {}, sent = () => {} }) => {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve) => {
    const end = (status) => {
      let data = null;
      try {
        data = JSON.parse(request.responseText);
      } catch {
        // The response has no body, or comes from a proxy.
      }
      const good = status >= 200 && status < 300;
      const wait = Number(request.getResponseHeader("Retry-After")) || 0;
      resolve({ status, data, wait, header: (name) => request.getResponseHeader(name), problem: good ? null : data && data.code ? data : { code: "", detail: "" } });
    };
    request.upload.addEventListener("progress", progress);
    request.upload.addEventListener("load", sent);
    request.addEventListener("load", () => end(request.status));
    request.addEventListener("error", () => end(0));
    request.addEventListener("abort", () => end(-1));
  });
  request.open(method, address);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.send(body);
  return { done, stop: () => request.abort() };
};

marketplace.upload = (file, { address, headers, moved, sent }) => {
  const meter = marketplace.meter();
  const body = new FormData();
  body.append("file", file);
  return marketplace.transfer("POST", address, { headers, body, sent, progress: (event) => moved(meter(event.loaded), event.loaded / event.total) });
};

// By the tus protocol: `address` begins an upload, `part` is the size of a part, and `credential` is that of `marketplace.api`.
// `stored` is called for each part that has arrived. `conflict` is called before the upload is finished, and returns a problem if it must
// not be. The address of an upload is kept in the browser's storage, so that it can be continued after the page was closed.
marketplace.uploadInParts = (file, { address, part, credential, moved, stored, sent, conflict }) => {
  const name = `upload ${address} ${file.name} ${file.size} ${file.lastModified}`;
  let uploadAddress = null;
  let running = null;
  let stopped = false;
  try {
    uploadAddress = localStorage.getItem(name);
  } catch {
    // Storage is not available.
  }

  const remember = (value) => {
    uploadAddress = value;
    try {
      if (value) localStorage.setItem(name, value);
      else localStorage.removeItem(name);
    } catch {
      // Without storage, the upload can be continued only while the page is open.
    }
  };

  const send = async (method, target, { headers, ...rest } = {}) => {
    const held = await credential();
    if (held.problem) return { status: held.problem.status, problem: held.problem, wait: 0 };
    if (stopped) return { status: -1, problem: { code: "", detail: "" }, wait: 0 };
    running = marketplace.transfer(method, target, { headers: { ...held.headers, "Tus-Resumable": "1.0.0", ...headers }, ...rest });
    return running.done;
  };

  const addressOfRecord = () => uploadAddress.replace("/tus/", "/uploads/");

  const finish = async () => {
    const answer = await send("POST", `${addressOfRecord()}/finish`);
    // A file that is refused is deleted.
    if ([200, 400, 404, 415].includes(answer.status)) remember(null);
    return answer;
  };

  // Returns {offset}, where to go on, or {answer}, the response that ends the upload.
  const begin = async () => {
    if (uploadAddress) {
      const there = await send("GET", addressOfRecord());
      // The upload was finished, but the response was lost: it is requested again.
      if (there.status === 200 && there.data.fileId) return { answer: await finish() };
      if (there.status === 200) return { offset: there.data.offset };
      if (there.status !== 404) return { answer: there };
      remember(null);
    }
    const encoded = btoa(String.fromCharCode(...new TextEncoder().encode(file.name)));
    const begun = await send("POST", address, { headers: { "Upload-Length": file.size, "Upload-Metadata": `filename ${encoded}` } });
    if (begun.status !== 201) return { answer: begun };
    remember(begun.header("Location"));
    return { offset: 0 };
  };

  const run = async () => {
    const begun = await begin();
    if (begun.answer) return begun.answer;
    let { offset } = begun;
    let meter = marketplace.meter(offset);
    while (offset < file.size) {
      const from = offset;
      const progress = (event) => moved(meter(from + event.loaded), (from + event.loaded) / file.size);
      progress({ loaded: 0 });
      const headers = { "Upload-Offset": from, "Content-Type": "application/offset+octet-stream" };
      const answer = await send("PATCH", uploadAddress, { headers, body: file.slice(from, from + part), progress });
      // The response to the previous part may have been lost.
      if (answer.problem?.code === "offset_conflict") {
        offset = answer.problem.offset;
        meter = marketplace.meter(offset);
      } else if (answer.problem) return answer;
      else {
        offset = Number(answer.header("Upload-Offset"));
        stored();
      }
    }
    sent();
    const problem = await conflict();
    if (problem) return { status: 409, problem, wait: 0 };
    return finish();
  };

  const stop = () => {
    stopped = true;
    running?.stop();
    const left = uploadAddress;
    remember(null);
    // Sent even if the page is closed.
    if (left) credential().then(({ headers }) => fetch(left, { method: "DELETE", keepalive: true, headers: { ...headers, "Tus-Resumable": "1.0.0" } })).catch(() => {});
  };

  return { done: run(), stop };
};

// Returns a function that takes the bytes so far and returns the speed in bytes a second, smoothed over some seconds. `bytes` is how many
// there are at the beginning.
marketplace.meter = (bytes = 0) => {
  const SMOOTHED_OVER = 3;
  let at = performance.now();
  let speed = 0;
  return (loaded) => {
    const seconds = (performance.now() - at) / 1000;
    // Intervals that are too short give no usable speed.
    if (seconds >= 0.2) {
      const current = (loaded - bytes) / seconds;
      speed = speed ? speed + (current - speed) * (1 - Math.exp(-seconds / SMOOTHED_OVER)) : current;
      [at, bytes] = [performance.now(), loaded];
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
