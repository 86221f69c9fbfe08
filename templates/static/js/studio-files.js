// The page of a listing's files: drop or choose files, follow their progress, cancel, retry. Files are uploaded through the vendor API;
// afterwards their part of the page is fetched again. Forms that describe, move and remove are sent without a reload, too, so that
// nothing that is typed elsewhere on the page is lost. Without this script the page's forms upload one file at a time.
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

  const element = (tag, className, words) => Object.assign(document.createElement(tag), { className, textContent: words });

  // Shows these errors at an upload field, in place of those that are there.
  const complain = (place, ...errors) => {
    const list = document.getElementById(`${place}-error`);
    const input = document.getElementById(`${place}-input`);
    list.replaceChildren(...errors.map((words) => element("li", "", words)));
    input.removeAttribute("aria-invalid");
    if (!errors.length) return;
    input.setAttribute("aria-invalid", "true");
    unfold(list);
    list.scrollIntoView({ block: "nearest" });
    tell(errors.join(" "));
  };

  // Clears the errors of the fields that take several files.
  const clearErrors = () => {
    for (const place of ["all", "pictures"]) if (document.getElementById(`${place}-error`)) complain(place);
  };

  // --- display of a running upload -------------------------------------------------------------

  // The list of sections says which of them are being uploaded; the next step waits for them.
  const showRunning = () => {
    const running = new Set([...jobs.keys()].map((place) => (place.startsWith("picture-") ? "previews" : place)));
    for (const section of document.querySelectorAll("#page-sections li")) {
      const uploading = running.has(section.querySelector("a").hash.slice(1));
      if (uploading === section.hasAttribute("data-uploading")) continue;
      section.toggleAttribute("data-uploading", uploading);
      if (uploading) section.querySelector(".status").before(element("span", "status status-wait", "Uploading"));
      else section.querySelector(".status-wait").remove();
    }
    const next = document.getElementById("next");
    if (next) next.hidden = jobs.size > 0;
  };

  const end = (job) => {
    jobs.delete(job.place);
    showRunning();
  };

  const show = (job) => {
    const form = formOf(job.place);
    const box = template.content.firstElementChild.cloneNode(true);
    box.querySelector("[data-name]").textContent = job.file.name;
    box.querySelector("progress").setAttribute("aria-label", `Upload of ${job.file.name}`);
    job.box = box;
    job.bar = box.querySelector("progress");
    job.words = box.querySelector("[data-words]");
    job.words.textContent = "Waiting for earlier uploads.";
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
    return now?.candidateFile && now.candidateFile.id !== before?.candidateFile?.id ? { code: "upload_conflict", detail: "" } : null;
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
      ? marketplace.uploadInParts(job.file, { address: tus, part: Number(part), credential: api.credential, stored: () => (job.lost = 0), conflict: () => overtaken(before), ...told })
      : marketplace.upload(job.file, { address, headers: held.headers, ...told });
    return job.request.done;
  };

  // Uploads a file; returns null when it is stored or was stopped, the problem when it was refused.
  const carry = async (job) => {
    const record = job.place === "file" ? await listing() : null;
    const locked = lockedBy(job, record);
    if (locked) return locked;
    let renewed = false;
    while (!job.stopped) {
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
        await again(job);
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

  const again = async (job) => {
    const how = job.inParts ? "It goes on from there" : "It starts again from the beginning";
    const at = job.bar.hasAttribute("value") ? ` at ${Math.floor(job.bar.value)} percent` : "";
    const wait = RETRIES[job.lost];
    job.lost += 1;
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
    end(job);
    tell(`${job.file.name} is cancelled. Nothing of it was kept.`);
  };

  // --- update of the page ----------------------------------------------------------------------

  const partOf = (place) => document.getElementById(place);

  const parse = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

  // Updates what depends on other parts of the page: the buttons that move pictures, the list of sections, and the next step.
  const arrange = (whole) => {
    for (const fresh of whole.querySelectorAll("[data-moves], #page-sections, #next")) {
      const old = document.getElementById(fresh.id);
      if (old && !old.contains(document.activeElement)) old.replaceWith(document.importNode(fresh, true));
    }
    showRunning();
  };

  // Replaces parts of the page by those of a newer one. Descriptions that are not saved stay with their picture, or else in their slot.
  const replace = (parts, whole) => {
    const fields = [...document.querySelectorAll(".words textarea")].map((field) => ({
      id: field.id,
      slot: field.closest(".slot").id,
      unsaved: field.value !== field.defaultValue || field.matches("[aria-invalid]"),
      value: field.value,
      caret: field === document.activeElement ? field.selectionEnd : null,
    }));
    for (const part of parts) {
      const fresh = document.importNode(whole.getElementById(part.id), true);
      part.replaceWith(fresh);
      fresh.querySelectorAll("form[data-guard]").forEach(marketplace.guard);
      fresh.querySelector("#tester")?.dispatchEvent(new Event("tester", { bubbles: true }));
    }
    for (const { id, slot, unsaved, value, caret } of fields) {
      const field = document.getElementById(id) ?? document.querySelector(`#${slot} .words textarea`);
      if (field && unsaved) field.value = value;
      if (field && caret !== null && field !== document.activeElement) {
        field.focus({ preventScroll: true });
        field.setSelectionRange(caret, caret);
      }
    }
  };

  // Shows a message in a part of the page, in place of the one that is there.
  const note = (part, words, level) => {
    const item = Object.assign(element("p", `note note-${level}`, words), { tabIndex: -1 });
    for (const earlier of part.querySelectorAll(".note[tabindex]")) earlier.remove();
    const heading = part.querySelector(":scope > h2");
    const form = part.querySelector(".drop");
    if (heading) heading.after(item);
    else if (form) (form.closest(".replace") ?? form).before(item);
    else part.append(item);
  };

  const renew = async (place, done) => {
    let whole = null;
    try {
      whole = await parse(await fetch(location.pathname, { cache: "no-store" }));
    } catch {
      // The file is stored; only the page could not be updated.
    }
    const old = partOf(place);
    if (!whole?.getElementById(place)) {
      complain(place, `${done} Reload the page to see it.`);
      return;
    }
    const focused = old.contains(document.activeElement);
    replace([old], whole);
    arrange(whole);
    const part = partOf(place);
    if (focused && !part.contains(document.activeElement)) part.querySelector(".replace > summary, input[type=file]")?.focus();
    note(part, part.matches(".slot") ? "Uploaded" : done, "success");
    tell(done);
  };

  const refuse = (job, words) => {
    if (!job.place.startsWith("picture-")) return complain(job.place, words);
    const named = `${job.file.name}: ${words}`;
    if (!job.anySlot) return complain(job.place, named);
    const others = [...document.querySelectorAll("#pictures-error li")].map((each) => each.textContent);
    complain("pictures", ...others, named);
  };

  // Moves the pictures that wait up to the place that a refused one leaves free.
  const closeGap = (place) => {
    let free = place;
    for (const job of [...jobs.values()].filter((each) => each.anySlot && !each.started)) {
      hide(job);
      jobs.delete(job.place);
      [job.place, free] = [free, job.place];
      jobs.set(job.place, job);
      show(job);
    }
    showRunning();
  };

  const work = async (job) => {
    if (job.stopped) return;
    job.started = true;
    job.words.textContent = "Starting …";
    const problem = await carry(job);
    if (job.stopped) return;
    hide(job);
    if (problem) refuse(job, explain(problem));
    else await renew(job.place, `${job.file.name} was uploaded and checked.`);
    // Only now the page shows what the next upload to this place would replace.
    end(job);
    if (problem && job.anySlot) closeGap(job.place);
  };

  // `anySlot` tells whether the picture may go to any free slot.
  const begin = (place, file, anySlot = false) => {
    // `lost` counts the connections that were lost since a part arrived.
    const job = { place, file, anySlot, quarter: 0, lost: 0, started: false, stopped: false, checking: false };
    jobs.set(place, job);
    complain(place);
    show(job);
    showRunning();
    const lane = place === "file" ? "file" : "previews";
    lanes[lane] = lanes[lane].then(() => work(job)).catch(() => {
      hide(job);
      end(job);
      complain(job.place, "Something went wrong on this page. Reload it and try again.");
    });
  };

  // --- forms that describe, move and remove ----------------------------------------------------

  const FAILED = "Nothing was changed. Check that you are online and signed in, then try again.";

  const post = async (form, submitter) => {
    const part = form.closest(".slot, #file, #specimen, #sound");
    const body = new FormData(form, submitter);
    let answer = null;
    let whole = null;
    try {
      answer = await fetch(form.action, { method: "POST", body });
      whole = await parse(answer);
    } catch {
      // The connection was lost.
    }
    delete form.dataset.sent;
    const refused = whole?.getElementById("refused")?.textContent.trim();
    if (!whole?.querySelector("#uploads form")) {
      note(part, refused || FAILED, "error");
      return tell(refused || FAILED);
    }
    clearErrors();
    for (const earlier of page.querySelectorAll(".note-success[tabindex]")) earlier.remove();
    if (answer.ok && body.has("alt_text")) form.elements.alt_text.defaultValue = body.get("alt_text");

    const focused = part.contains(document.activeElement);
    const pictureIn = (slot) => slot.querySelector(".words textarea")?.id;
    const picture = pictureIn(part);
    const others = [...document.querySelectorAll(".slot")].filter((slot) => pictureIn(slot) !== pictureIn(whole.getElementById(slot.id)));
    // An upload goes on in its part of the page, which is replaced when it ends.
    replace([...new Set([part, ...others])].filter((each) => !jobs.has(each.id)), whole);
    arrange(whole);

    const now = (picture && document.getElementById(picture)?.closest(".slot")) || partOf(part.id);
    const words = refused || whole.querySelector("#uploads .note[role=status], .words .errorlist li")?.textContent || "";
    if (refused || !now.querySelector(".note[tabindex], .words [aria-invalid]")) note(now, words, answer.ok ? "success" : "error");
    tell(words);
    if (!focused || now.contains(document.activeElement)) return;
    // The focus goes to what was pressed, or to the next best.
    const pressed = { words: [".words button"], moves: [`[data-direction="${submitter?.dataset.direction}"]`, ".moves button"] }[form.className] ?? [];
    const selector = [".words [aria-invalid]", ...pressed, ".note[tabindex]"].find((each) => now.querySelector(each));
    now.querySelector(selector)?.focus();
  };

  // --- chosen and dropped files ----------------------------------------------------------------

  // Returns why a file can't be uploaded to a place, or an empty string.
  const refusal = (place, file) => {
    const { maximum, accepted } = formOf(place).dataset;
    const endings = formOf(place).querySelector("input[type=file]").accept.split(",");
    if (file.size > maximum) return `${file.name}: ${explain({ code: "body_too_large", maximumBytes: Number(maximum), detail: "" })}`;
    if (!file.size) return `${file.name} is empty, or is a folder. Put a folder into a zip archive.`;
    if (!endings.some((ending) => file.name.toLowerCase().endsWith(ending))) return `${file.name} has an unsupported file type. ${accepted}`;
    return "";
  };

  const namesOf = (files) => files.map((file) => file.name).join(", ");

  // Sounds and fonts may be what the vendor sells; a preview can be downloaded by anyone.
  const mayShow = (place, files) => {
    if (!["specimen", "sound"].includes(place)) return true;
    return confirm(`Show ${namesOf(files)} to everyone? To sell it, cancel and choose it under “The file that buyers get”.`);
  };

  // Each file goes to the place that accepts its type: a preview if one does, else the deliverable. Returns the errors.
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
    const errors = [];
    for (const [place, group] of sorted) {
      if (place === "all") errors.push(`${namesOf(group)}: there is no place for this type of file. To sell it, put it into a zip archive.`);
      else if (mayShow(place, group)) errors.push(...take(place, group));
      else errors.push(`${namesOf(group)} was not uploaded. To sell it, choose it under “The file that buyers get”.`);
    }
    return errors;
  };

  // Whoever opened the form of a file that is there was asked by that; whoever dropped a file, or let it be sorted, is asked here.
  const mayReplace = (place) => {
    const there = partOf(place)?.dataset.replaces;
    const emptied = partOf(place)?.querySelector(".words textarea")?.defaultValue ? " Its description is emptied." : "";
    return !there || confirm(`Replace ${there}?${emptied}`);
  };

  // Begins the uploads and returns the errors.
  const take = (place, files, asked = false) => {
    if (place === "pictures") return fill(files, null);
    if (place.startsWith("picture-") && files.length > 1) return fill(files, place);
    if (files.length > 1) return [`${namesOf(files)}: only one file can go here. Put several into one zip archive.`];
    const error = jobs.has(place) ? "An upload is already in progress here. Wait for it, or cancel it." : refusal(place, files[0]);
    if (error) return [error];
    if (asked || mayReplace(place)) begin(place, files[0]);
    return [];
  };

  // The first picture goes to the slot it was dropped on, the others to free slots in order.
  const fill = (files, first) => {
    const free = [...document.querySelectorAll(".slot:not([data-taken])")].map((slot) => slot.id);
    const places = [...new Set([...(first ? [first] : []), ...free])].filter((place) => !jobs.has(place));
    const errors = [];
    const rest = [];
    for (const file of files) {
      const error = refusal("picture-0", file);
      if (error) errors.push(error);
      else if (!places.length) rest.push(file);
      else {
        const place = places.shift();
        if (mayReplace(place)) begin(place, file, place !== first);
      }
    }
    if (rest.length) errors.push(`All places are taken: ${namesOf(rest)} ${rest.length > 1 ? "were" : "was"} not uploaded. Replace or remove a picture first.`);
    return errors;
  };

  const start = (place, files, { asked = false, folders = [] } = {}) => {
    clearErrors();
    const errors = folders.map((name) => `${name} is a folder. Put the folder into a zip archive.`);
    if (files.length) errors.push(...(place === "all" ? sort(files) : take(place, files, asked)));
    complain(place.startsWith("picture-") && files.length > 1 ? "pictures" : place, ...errors);
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
    start(input.id.replace(/-input$/, ""), files, { asked: true });
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    // The upload starts on choosing a file, so the form's button is not needed.
    if (form.matches("form[data-place]")) event.preventDefault();
    if (event.defaultPrevented || !form.matches("#uploads :is(.words, .moves, .confirm form)")) return;
    event.preventDefault();
    post(form, event.submitter);
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
    if (!zone) return;
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.());
    const folders = entries.filter((entry) => entry?.isDirectory).map((entry) => entry.name);
    const files = [...event.dataTransfer.files].filter((file) => !folders.includes(file.name));
    start(zone.place, files, { folders });
  });

  addEventListener("beforeunload", (event) => {
    if (jobs.size) event.preventDefault();
  });

  page.classList.add("live");
})();
