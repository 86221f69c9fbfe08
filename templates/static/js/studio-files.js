// The page of a listing's files: drop or choose files, follow their progress, cancel, retry. Files are uploaded through the vendor API;
// afterwards their part of the page is fetched again. Without this script the page's forms upload one file at a time.
"use strict";
(() => {
  const RETRIES = [3, 10, 30];
  const page = document.getElementById("uploads");
  const news = document.getElementById("upload-news");
  const messages = JSON.parse(document.getElementById("upload-messages").textContent);
  const template = document.getElementById("upload-under-way");
  const api = marketplace.api({ scopes: "vendor:manage" });
  const { size, left } = marketplace.inWords;
  // Running and waiting uploads, by the name of their place.
  const jobs = new Map();
  // The deliverable may take hours, so previews are not queued behind it.
  const lanes = { file: Promise.resolve(), previews: Promise.resolve() };

  const tell = (words) => (news.textContent = words);
  const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const formOf = (place) => document.querySelector(`form[data-place="${place}"]`);

  const unfold = (part) => {
    for (let fold = part.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  };

  const explain = (problem) => {
    const maximum = problem.maximumBytes ? size(problem.maximumBytes).replace(".0", "") : "";
    const message = messages[problem.code] || problem.detail || "The service did not say why. Try again in a minute.";
    const parts = { detail: problem.detail, maximum, requestId: problem.requestId };
    return message.replace(/\{(\w+)\}/g, (_, name) => parts[name]);
  };

  const complain = (place, words) => {
    const list = document.getElementById(`${place}-error`);
    const item = document.createElement("li");
    item.textContent = words;
    list.replaceChildren(...(words ? [item] : []));
    if (words) unfold(list);
    document.getElementById(`${place}-input`).toggleAttribute("aria-invalid", false);
    if (words) {
      document.getElementById(`${place}-input`).setAttribute("aria-invalid", "true");
      tell(words);
    }
  };

  // --- display of a running upload -------------------------------------------------------------

  const show = (job) => {
    const form = formOf(job.place);
    const box = template.content.firstElementChild.cloneNode(true);
    box.querySelector("[data-name]").textContent = job.file.name;
    box.querySelector("progress").setAttribute("aria-label", `Upload of ${job.file.name}`);
    job.box = box;
    job.bar = box.querySelector("progress");
    job.words = box.querySelector("[data-words]");
    job.again = box.querySelector("[data-again]");
    job.stop = box.querySelector("[data-stop]");
    job.stop.addEventListener("click", () => cancel(job));
    const input = form.querySelector("input[type=file]");
    const focused = document.activeElement === input;
    form.append(box);
    unfold(form);
    box.scrollIntoView({ block: "nearest" });
    input.disabled = true;
    // A disabled input loses the focus, so the box of the upload gets it.
    if (focused) box.focus();
    const frame = form.closest(".slot")?.querySelector(".slot-picture");
    if (frame) {
      job.frame = frame;
      job.before = [...frame.childNodes];
      const image = document.createElement("img");
      // The URL is needed until the image is loaded, even if the upload ends first.
      for (const end of ["load", "error"]) image.addEventListener(end, () => URL.revokeObjectURL(image.src));
      image.src = URL.createObjectURL(job.file);
      image.alt = `${job.file.name}, on its way`;
      frame.replaceChildren(image);
    }
  };

  const hide = (job) => {
    const focused = job.box.contains(document.activeElement);
    job.box.remove();
    if (job.frame) job.frame.replaceChildren(...job.before);
    const input = formOf(job.place)?.querySelector("input[type=file]");
    if (!input) return;
    input.disabled = false;
    if (focused) input.focus();
  };

  const moved = (job, speed, share) => {
    job.bar.value = share * 100;
    const total = job.file.size;
    const remaining = speed ? left((total * (1 - share)) / speed) : "";
    const parts = [`${size(total * share)} of ${size(total)}`, speed ? `${size(speed)} a second` : "", remaining];
    job.words.textContent = parts.filter(Boolean).join(" · ");
    const quarter = Math.floor(share * 4);
    if (quarter > job.quarter && quarter < 4) {
      job.quarter = quarter;
      tell(`${job.file.name}: ${quarter * 25} percent${remaining ? `, ${remaining}` : ""}`);
    }
  };

  const checking = (job) => {
    job.checking = true;
    job.bar.removeAttribute("value");
    job.words.textContent = "Upload complete. Checking the file …";
    // The upload can no longer be stopped; the file can be removed later.
    if (document.activeElement === job.stop) job.box.focus();
    job.stop.hidden = true;
    tell(`${job.file.name} is uploaded and is being checked.`);
  };

  // --- upload of one file ----------------------------------------------------------------------

  const listing = async () => (await api.call("GET", page.dataset.listing)).data;

  const lockedBy = (job, record) => {
    const locked = record && (record.status === "PendingReview" || (job.place === "file" && record.updateStatus === "PendingReview"));
    return locked ? { code: "listing_locked", detail: "" } : null;
  };

  // Returns the problem if another file was uploaded since this upload began, else null.
  const overtaken = async (before) => {
    const now = await listing();
    return now && now.candidateFile?.id !== before?.candidateFile?.id ? { code: "upload_conflict", detail: "" } : null;
  };

  const send = async (job, before) => {
    const held = await api.credential();
    if (held.problem) return { status: held.problem.status, problem: held.problem, wait: 0 };
    job.checking = false;
    job.quarter = 0;
    job.again.hidden = true;
    job.stop.hidden = false;
    job.bar.value = 0;
    if (job.stopped) return { status: -1, problem: {}, wait: 0 };
    const { address, tus, part } = formOf(job.place).dataset;
    const told = { moved: (speed, share) => moved(job, speed, share), sent: () => checking(job) };
    job.inParts = Boolean(tus) && job.file.size > Number(part);
    job.request = job.inParts
      ? marketplace.uploadInParts(job.file, { address: tus, part: Number(part), credential: api.credential, conflict: () => overtaken(before), ...told })
      : marketplace.upload(job.file, { address, headers: held.headers, ...told });
    return job.request.done;
  };

  // Uploads a file; returns null when it is stored or was stopped, the problem when it was refused.
  const carry = async (job) => {
    const record = job.place === "file" ? await listing() : null;
    const locked = lockedBy(job, record);
    if (locked) return locked;
    let renewed = false;
    for (let lost = 0; !job.stopped; ) {
      const answer = await send(job, record);
      if (answer.status === 200 || job.stopped) return null;
      if (answer.problem.code === "invalid_credential" && !renewed) {
        renewed = true;
        api.forget();
      } else if (answer.status === 429 || ["overloaded", "upload_finishing"].includes(answer.problem.code)) {
        job.words.textContent = "The service is busy, or you uploaded many files in a short time. The upload continues automatically in a moment.";
        await Promise.race([pause(answer.wait || 5), woken(job)]);
      } else if (answer.status === 0) {
        const now = await listing();
        if (arrived(job, record, now)) return null;
        if (lockedBy(job, now)) return lockedBy(job, now);
        await again(job, lost++);
      } else {
        return answer.problem;
      }
    }
    return null;
  };

  // Tells whether the file was stored although the connection was lost before the response.
  const arrived = (job, before, now) => {
    const file = job.checking && job.place === "file" && now?.candidateFile;
    return Boolean(file) && file.id !== before?.candidateFile?.id && file.fileSize === job.file.size;
  };

  // Resolves when the vendor presses the button to continue at once.
  const woken = (job) =>
    new Promise((resolve) => {
      job.again.addEventListener("click", resolve, { once: true });
      job.wake = resolve;
    });

  const again = async (job, lost) => {
    const how = job.inParts ? "It goes on from there" : "It starts again from the beginning";
    const at = job.bar.hasAttribute("value") ? ` at ${Math.floor(job.bar.value)} percent` : "";
    const wait = RETRIES[lost];
    const when = !wait ? "when you try again. Check that the file is still in the same place." : navigator.onLine ? `in ${wait} seconds.` : "as soon as you are online.";
    job.again.hidden = false;
    job.stop.hidden = false;
    job.words.textContent = `The connection was lost${at}. ${how} ${when}`;
    tell(job.words.textContent);
    const online = navigator.onLine ? pause(wait) : new Promise((resolve) => addEventListener("online", resolve, { once: true }));
    await Promise.race(wait ? [woken(job), online] : [woken(job)]);
  };

  const cancel = (job) => {
    job.stopped = true;
    job.request?.stop();
    job.wake?.();
    hide(job);
    jobs.delete(job.place);
    tell(`${job.file.name} is cancelled. Nothing of it was kept.`);
  };

  // --- update of the page ----------------------------------------------------------------------

  const partOf = (place) => document.getElementById(place);

  // Updates what depends on other parts: the buttons that move pictures, the list of parts, and the next step.
  const arrange = (whole) => {
    for (const fresh of whole.querySelectorAll("[data-moves], #parts, #next")) {
      const old = document.getElementById(fresh.id);
      if (old && !old.contains(document.activeElement)) old.replaceWith(document.importNode(fresh, true));
    }
  };

  const renew = async (place, done) => {
    let fresh = null;
    try {
      const answer = await fetch(location.pathname, { cache: "no-store" });
      const whole = new DOMParser().parseFromString(await answer.text(), "text/html");
      fresh = whole.getElementById(place);
      arrange(whole);
    } catch {
      // The file is stored; only the page could not be updated.
    }
    const old = partOf(place);
    if (!fresh) {
      complain(place, `${done} Reload the page to see it.`);
      return;
    }
    const focused = old.contains(document.activeElement);
    const part = document.importNode(fresh, true);
    old.replaceWith(part);
    const tester = part.querySelector("#tester");
    if (tester) tester.dispatchEvent(new Event("tester", { bubbles: true }));
    if (focused) part.querySelector(".replace > summary, input[type=file]")?.focus();
    const note = document.createElement("p");
    note.className = "note note-success";
    note.textContent = done;
    const form = part.querySelector(".drop");
    (form?.closest("details") ?? form)?.before(note);
    tell(done);
  };

  const work = async (job) => {
    if (job.stopped) return;
    job.words.textContent = "Starting …";
    const problem = await carry(job);
    if (job.stopped) return;
    hide(job);
    if (problem) complain(job.place, explain(problem));
    else await renew(job.place, `${job.file.name} was uploaded and checked.`);
    // Only now the page shows what the next upload to this place would replace.
    jobs.delete(job.place);
  };

  const begin = (place, file) => {
    const job = { place, file, quarter: 0, stopped: false, checking: false };
    jobs.set(place, job);
    complain(place, "");
    show(job);
    const lane = place === "file" ? "file" : "previews";
    job.words.textContent = "Waiting for earlier uploads.";
    lanes[lane] = lanes[lane].then(() => work(job)).catch(() => {
      hide(job);
      jobs.delete(place);
      complain(place, "Something went wrong on this page. Reload it and try again.");
    });
  };

  // --- chosen and dropped files ----------------------------------------------------------------

  const fits = (place, file) => {
    const form = formOf(place);
    const maximum = Number(form.dataset.maximum);
    const endings = form.querySelector("input[type=file]").accept.split(",");
    const problem = (code) => complain(place, `${file.name}: ${explain({ code, maximumBytes: maximum, detail: "" })}`);
    if (jobs.has(place)) return complain(place, "An upload is already in progress here. Wait for it, or cancel it.");
    if (file.size > maximum) return problem("body_too_large");
    if (!file.size) return complain(place, `${file.name} is empty, or is a folder. Put a folder into a zip archive.`);
    if (!endings.some((ending) => file.name.toLowerCase().endsWith(ending))) {
      const taken = endings.map((ending) => ending.slice(1)).join(", ");
      return complain(place, `${file.name} has an unsupported file type. Supported: ${taken}.`);
    }
    return true;
  };

  // Each file goes to the place that accepts its type: a preview if one does, else the deliverable.
  const sort = (files) => {
    const accepts = (place, file) => {
      const input = document.getElementById(`${place}-input`);
      const maximum = Number(formOf(place)?.dataset.maximum || Infinity);
      return input && file.size <= maximum && input.accept.split(",").some((ending) => file.name.toLowerCase().endsWith(ending));
    };
    const sorted = new Map();
    for (const file of files) {
      const place = ["pictures", "specimen", "sound", "file"].find((each) => accepts(each, file)) || "all";
      sorted.set(place, [...(sorted.get(place) || []), file]);
    }
    const odd = sorted.get("all") || [];
    complain("all", odd.length ? `${odd.map((file) => file.name).join(", ")}: there is no place for this type of file.` : "");
    sorted.delete("all");
    for (const [place, group] of sorted) take(place, group);
  };

  // Whoever opened the form of a file that is there was asked by that; whoever dropped a file, or let it be sorted, is asked here.
  const mayReplace = (place) => {
    const there = document.getElementById(place)?.dataset.replaces;
    return !there || confirm(`Replace ${there}?`);
  };

  const take = (place, files, asked = false) => {
    if (place === "all") return sort(files);
    if (place === "pictures") return fill(files, null);
    if (place.startsWith("picture-") && files.length > 1) return fill(files, place);
    if (files.length > 1) return complain(place, "Only one file can go here. Put several into one zip archive.");
    if (fits(place, files[0]) && (asked || mayReplace(place))) begin(place, files[0]);
  };

  // The first file goes to the slot it was dropped on, the others to free slots in order.
  const fill = (files, first) => {
    const free = [...document.querySelectorAll(".slot:not([data-taken])")].map((slot) => slot.id);
    const places = [...new Set([...(first ? [first] : []), ...free])].filter((place) => !jobs.has(place));
    complain("pictures", "");
    files.slice(0, places.length).forEach((file, index) => {
      if (fits(places[index], file) && mayReplace(places[index])) begin(places[index], file);
    });
    const over = files.length - places.length;
    if (over > 0) complain("pictures", `${over} found no free place. Drop a picture on one that is there to replace it.`);
  };

  const zoneOf = (target) => {
    const part = target.closest?.("#all, #file, .slot, #specimen, #sound, #previews");
    const place = part?.id === "previews" ? "pictures" : part?.id;
    return part?.querySelector("input[type=file]") ? { part, place } : null;
  };

  document.addEventListener("change", (event) => {
    const input = event.target;
    if (input.type !== "file" || !input.files.length) return;
    const files = [...input.files];
    input.value = "";
    take(input.id.replace(/-input$/, ""), files, true);
  });

  document.addEventListener("submit", (event) => {
    // The upload starts on choosing a file, so the form's button is not needed.
    if (event.target.matches("form[data-place]")) event.preventDefault();
  });

  let over = null;
  const mark = (part) => {
    if (over === part) return;
    over?.classList.remove("drop-over");
    part?.classList.add("drop-over");
    over = part;
  };
  const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");

  document.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    // Otherwise the browser would navigate to the dropped file.
    event.preventDefault();
    const zone = zoneOf(event.target);
    event.dataTransfer.dropEffect = zone ? "copy" : "none";
    mark(zone?.part);
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) mark(null);
  });
  document.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    mark(null);
    const zone = zoneOf(event.target);
    if (zone) take(zone.place, [...event.dataTransfer.files]);
  });

  addEventListener("beforeunload", (event) => {
    if (jobs.size) event.preventDefault();
  });

  page.classList.add("live");
})();
