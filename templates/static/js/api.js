// How a page calls the API: `const api = marketplace.api({scopes: "vendor:manage"})` for the signed-in user, `{app: id}` to
// stand in for a key of that app, no argument for anonymous calls. The token is kept in memory only, and renewed before it expires.
//
//   const answer = await api.call("POST", "/api/v1/vendor/assets", {body: {title: "Grotesk"}});
//   if (answer.ok) show(answer.data); else explain(answer.problem.detail);
//
// `call` never throws: errors are problem documents, also when the network is down. For what `fetch` cannot do, such
// as an upload with progress, `credential()` gives the headers to send; they must be good when the request begins.
"use strict";
window.marketplace = window.marketplace || {};
window.marketplace.api = (tokenRequest = null) => {
  const SPARE_SECONDS = 60;
  let token = null;
  let renewal = null;

  const offline = (detail) => ({ status: 0, code: "network_error", title: "No response", detail });

  const read = async (response) => {
    const type = response.headers.get("Content-Type") || "";
    const readable = /json|text|xml/.test(type);
    const text = readable ? await response.text() : "";
    // A file is sent as it is, not read into memory: it may be very large.
    if (!readable) response.body?.cancel();
    let data = null;
    try {
      data = type.includes("json") && text ? JSON.parse(text) : null;
    } catch {
      // Invalid JSON is returned as text.
    }
    const answer = { ok: response.ok, status: response.status, headers: response.headers, data, text, problem: null };
    if (!response.ok) {
      answer.problem = data && data.code ? data : { status: response.status, code: "unknown", title: response.statusText, detail: "This page is out of date. Reload it." };
    }
    return answer;
  };

  const send = async (path, options) => {
    try {
      return await read(await fetch(path, { credentials: "omit", cache: "no-store", ...options }));
    } catch (error) {
      if (error.name === "AbortError") return { ok: false, status: 0, headers: new Headers(), data: null, text: "", problem: { ...offline("It was stopped."), code: "aborted" } };
      return { ok: false, status: 0, headers: new Headers(), data: null, text: "", problem: offline("The service does not respond. Check your connection, then try again.") };
    }
  };

  const renew = async () => {
    const csrf = document.querySelector("[name=csrfmiddlewaretoken]");
    const answer = await send("/dashboard/api-token", {
      method: "POST",
      credentials: "same-origin",
      headers: { "X-CSRFToken": csrf ? csrf.value : "", Accept: "application/json" },
      body: new URLSearchParams(tokenRequest),
    });
    if (answer.ok) token = { ...answer.data, until: performance.now() + answer.data.seconds * 1000 };
    return answer;
  };

  // Returns {headers, problem}; the headers are empty for anonymous calls, and where no token can be obtained.
  const credential = async () => {
    if (!tokenRequest) return { headers: {}, problem: null };
    if (!token || token.until - performance.now() < SPARE_SECONDS * 1000) {
      token = null;
      // Concurrent calls share one renewal of the token.
      renewal = renewal || renew().finally(() => (renewal = null));
      const answer = await renewal;
      if (!answer.ok) return { headers: {}, problem: answer.problem, answer };
    }
    const value = token.header === "Authorization" ? `Bearer ${token.token}` : token.token;
    return { headers: { [token.header]: value }, problem: null };
  };

  const call = async (method, path, { body, headers = {}, signal } = {}, again = true) => {
    const held = await credential();
    if (held.problem) return held.answer;
    const own = { ...headers };
    const plain = body !== undefined && body !== null && !(body instanceof FormData || body instanceof Blob || typeof body === "string");
    if (plain) own["Content-Type"] = "application/json";
    const started = performance.now();
    const answer = await send(path, { method, signal, headers: { ...own, ...held.headers }, body: plain ? JSON.stringify(body) : body });
    answer.milliseconds = Math.round(performance.now() - started);
    // The token may have been revoked, such as by a change of password in another window: try once more with a new one.
    if (tokenRequest && again && answer.status === 401 && answer.problem.code === "invalid_credential") {
      token = null;
      return call(method, path, { body, headers, signal }, false);
    }
    return answer;
  };

  return { call, credential, forget: () => (token = null) };
};
