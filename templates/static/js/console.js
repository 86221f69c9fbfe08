// The developer console: finds operations while the user types, makes the call that the form describes, and shows the response.
// The server builds the call from the form, so that it is the same as in the code examples beside it.
"use strict";
(() => {
  const search = document.getElementById("console-q");
  // After a search by the server, the page does not have the other calls: the next one is the server's, too.
  if (search && !search.defaultValue) {
    const none = document.getElementById("console-none");
    const said = document.getElementById("console-found");
    search.addEventListener("input", () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      for (const group of document.querySelectorAll("[data-group]")) {
        let here = 0;
        for (const item of group.querySelectorAll("[data-words]")) {
          item.hidden = !words.every((word) => item.dataset.words.includes(word));
          here += !item.hidden;
        }
        group.hidden = !here;
        found += here;
      }
      none.hidden = found > 0;
      said.textContent = `${found} ${found === 1 ? "call" : "calls"}`;
    });
  }

  const answer = document.getElementById("answer");
  if (!answer) return;
  const part = (name) => document.getElementById(`answer-${name}`);
  const said = document.getElementById("console-said");
  const ask = document.getElementById("ask");
  const tokens = new Map();
  let busy = false;

  const ready = () => {
    const form = document.getElementById("call-form");
    const run = document.getElementById("run");
    const caller = form.querySelector("[name=caller]");
    const label = () => (run.textContent = caller.value === "code" ? "Show the code" : "Run");
    label();
    caller.addEventListener("change", label);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!busy) start(form, run);
    });
  };

  const start = async (form, run) => {
    busy = true;
    const words = run.textContent;
    run.textContent = "Running …";
    run.setAttribute("aria-disabled", "true");
    try {
      await prepareAndRun(form);
    } finally {
      busy = false;
      const button = document.getElementById("run");
      button.textContent = words;
      button.removeAttribute("aria-disabled");
    }
  };

  const prepareAndRun = async (form) => {
    const files = [...form.querySelectorAll("input[type=file]")];
    const fields = new FormData(form);
    for (const input of files) fields.delete(input.name);
    const made = await prepare(fields, files);
    if (!made || !made.canRun) return;
    const chosen = files.length ? files[0].files[0] : null;
    if (made.upload && !chosen) return show({ status: 0, problem: { title: "Choose a file first", detail: "This call needs one." } });
    if (made.ask && !(await agreed(made.ask))) return void (said.textContent = "The call was not made.");
    const body = made.upload ? new FormData() : (made.body ?? undefined);
    if (made.upload) body.append("file", chosen);
    show(await api(made.tokenRequest).call(made.method, made.path, { body, headers: made.headers }));
  };

  // Returns the call that the form describes, null if the form is invalid; the page then shows the errors.
  const prepare = async (fields, files) => {
    let response;
    try {
      response = await fetch(location.href, { method: "POST", body: fields, headers: { "X-Part": "call" } });
    } catch {
      return show({ status: 0, problem: { title: "No response", detail: "The service does not respond. Check your connection, then try again." } });
    }
    const html = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = html.getElementById("call");
    if (!fresh) {
      // The user has signed out in the meantime, or signed in as someone else; the answer is a page that says so.
      location.reload();
      return null;
    }
    const wrong = response.status !== 200 || document.querySelector("#call-form .errorlist");
    if (wrong) {
      for (const input of files) fresh.querySelector(`[name="${input.name}"]`).replaceWith(input);
      document.getElementById("call").replaceWith(fresh);
      ready();
      const first = fresh.querySelector("[aria-invalid=true]");
      first?.closest("details")?.setAttribute("open", "");
      (first || document.getElementById("run")).focus();
    } else {
      document.getElementById("call-code").replaceWith(fresh.querySelector("#call-code"));
    }
    window.marketplace.enliven(document.getElementById("call-code"));
    const data = document.getElementById("call-made");
    return data ? JSON.parse(data.textContent) : null;
  };

  const api = (tokenRequest) => {
    const name = JSON.stringify(tokenRequest);
    if (!tokens.has(name)) tokens.set(name, window.marketplace.api(tokenRequest));
    return tokens.get(name);
  };

  const agreed = (words) =>
    new Promise((resolve) => {
      document.getElementById("ask-words").textContent = words;
      ask.returnValue = "";
      ask.addEventListener("close", () => resolve(ask.returnValue === "yes"), { once: true });
      ask.showModal();
    });

  // Several limits such as `"app";r=118;t=42`: shows the one with the fewest remaining calls.
  const left = (headers) => {
    const found = [...(headers.get("RateLimit") || "").matchAll(/r=(\d+);t=(\d+)/g)].map(([, calls, seconds]) => [+calls, +seconds]);
    if (!found.length) return "";
    const [calls, seconds] = found.sort((one, other) => one[0] - other[0])[0];
    return `${calls.toLocaleString("en")} ${calls === 1 ? "call" : "calls"} left for ${seconds} s`;
  };

  // Indents JSON as text: parsing and serializing it would change large numbers.
  const setOut = (json) => {
    let [text, depth, before] = ["", 0, ""];
    for (const token of json.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
      const closes = token === "}" || token === "]";
      const opened = before === "{" || before === "[";
      if (closes) depth -= 1;
      // Empty objects and arrays stay on one line.
      if (opened ? !closes : closes || before === ",") text += `\n${"  ".repeat(depth)}`;
      if (token === "{" || token === "[") depth += 1;
      text += token === ":" ? ": " : token;
      before = token;
    }
    return text;
  };

  const show = (got) => {
    const headers = got.headers || new Headers();
    const type = headers.get("Content-Type") || "";
    const status = part("status");
    status.className = `status status-${got.ok ? "good" : "bad"}`;
    status.textContent = got.status ? String(got.status) : got.problem.title;
    part("time").textContent = got.milliseconds === undefined ? "" : `${got.milliseconds} ms`;
    part("left").textContent = left(headers);
    const readable = got.data !== null && got.data !== undefined ? setOut(got.text) : /text|xml/.test(type) ? got.text : "";
    part("body").textContent = readable;
    part("code").hidden = !readable;
    const words = got.problem ? `${got.problem.title}: ${got.problem.detail}` : readable ? "" : `The response is ${type || "empty"}; it is not shown here.`;
    part("words").textContent = words;
    part("words").hidden = !words;
    part("headers").replaceChildren(
      ...[...headers].map(([name, value]) => {
        const row = document.createElement("tr");
        for (const text of [name, value]) row.insertCell().textContent = text;
        return row;
      }),
    );
    answer.hidden = false;
    said.textContent = got.status ? `Response: ${got.status}` : words;
    answer.scrollIntoView({ block: "nearest" });
    answer.focus({ preventScroll: true });
    return null;
  };

  ready();
})();
