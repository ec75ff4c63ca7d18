"use strict";

// This is the script of the pages. Every page also works without it.
(() => {
  // Times are shown in the visitor's time zone.
  const localTimes = (within) => {
    for (const t of within.querySelectorAll("time[datetime]")) {
      const at = new Date(t.dateTime);
      if (isNaN(at)) continue;
      t.title = t.textContent;
      t.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
    }
  };
  localTimes(document);

  // Progress: the page is reloaded when the server announces a change, unless the visitor is entering something.
  const main = document.getElementById("main");
  const entering = () => main.querySelector("details[open], .queue li") ||
    main.contains(document.activeElement) && /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (main.dataset.live) {
    const events = new EventSource(main.dataset.live);
    const reload = async () => {
      if (entering()) return setTimeout(reload, 2000);
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok || answer.redirected || entering()) return;
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
      for (const kept of main.querySelectorAll("[data-kept]")) next.querySelector("#" + kept.id)?.replaceWith(kept);
      main.replaceChildren(...next.childNodes);
      localTimes(main);
      offerViewer();
    };
    events.addEventListener("change", reload);
    events.addEventListener("open", () => { if (main.dataset.busy) reload(); }); // the page may have changed in the meantime
    addEventListener("pagehide", () => events.close());
  }

  // Pages for the local user of this machine report that they are open, so that the program exits once the last one has been
  // closed.
  if (document.body.dataset.open) {
    const address = document.body.dataset.open + "?id=" + Math.random().toString(36).slice(2);
    const report = () => fetch(address, { method: "POST", keepalive: true }).catch(() => {});
    addEventListener("pageshow", report);
    addEventListener("pagehide", () => navigator.sendBeacon(address + "&closed"));
    setInterval(report, 30000);
  }

  // Documents: dropped files and folders are queued. Each file is uploaded separately and shows its progress.
  const upload = document.querySelector("form.upload");
  if (upload) {
    const queue = document.getElementById("queue"), list = queue.querySelector("ul"), state = document.getElementById("queue-state");
    const waiting = [];
    let added = 0, refused = 0, running = 0, paused = 0;
    const tell = () => {
      state.textContent = `${added} added, ${refused} refused, ${waiting.length + running} to go` +
        (paused > Date.now() ? "; waiting a moment, because there were too many files in a minute" : "");
    };
    const enqueue = (file, path) => {
      queue.hidden = false;
      const row = document.createElement("li"), name = document.createElement("span"), bar = document.createElement("progress");
      name.textContent = path || file.name;
      bar.max = 1;
      bar.value = 0;
      bar.setAttribute("aria-label", file.name);
      row.append(name, bar);
      list.append(row);
      waiting.push({ file, path, row, bar });
      next();
    };
    const ended = (one, problem, word) => {
      const text = document.createElement("span");
      text.className = problem ? "why" : "done";
      text.textContent = problem || word;
      problem ? one.row.append(text) : one.bar.replaceWith(text);
      problem ? refused++ : added++;
    };
    const send = (one) => {
      const body = new FormData(), request = new XMLHttpRequest();
      body.append("csrf", upload.elements.csrf.value);
      if (one.path) body.append("path", one.path);
      body.append("file", one.file);
      request.open("POST", upload.action);
      request.setRequestHeader("Accept", "text/plain");
      request.upload.onprogress = (event) => { if (event.lengthComputable) one.bar.value = event.loaded / event.total; };
      request.onloadend = () => {
        running--;
        if (request.status === 429 || request.status === 0 && (one.tries = (one.tries || 0) + 1) < 4) {
          paused = Date.now() + 1000 * (+request.getResponseHeader("Retry-After") || 5);
          waiting.unshift(one);
        } else if (request.status === 204) ended(one, "", "added");
        else if (request.status === 401) ended(one, "Your session has ended. Sign in again, and drop the rest.");
        else if (request.status === 400) ended(one, request.responseText);
        else ended(one, "It could not be sent. Try again.");
        next();
      };
      request.send(body);
    };
    const next = () => {
      const rest = paused - Date.now();
      if (rest > 0) setTimeout(next, rest + 50);
      else while (running < 2 && waiting.length) { running++; send(waiting.shift()); }
      tell();
      if (!running && !waiting.length && !refused) location.reload();
    };
    const walk = (entry, folder) => {
      const path = folder + entry.name;
      if (entry.isFile) return entry.file((file) => enqueue(file, folder && path));
      const reader = entry.createReader();
      const more = () => reader.readEntries((entries) => {
        for (const e of entries) walk(e, path + "/");
        if (entries.length) more();
      });
      more();
    };
    upload.addEventListener("submit", (event) => {
      event.preventDefault();
      event.stopPropagation();
      for (const file of upload.elements.file.files) enqueue(file, "");
      upload.reset();
    });
    const over = (on) => document.body.classList.toggle("dropping", on);
    addEventListener("dragover", (event) => { event.preventDefault(); over(true); });
    addEventListener("dragleave", (event) => { if (!event.relatedTarget) over(false); });
    addEventListener("drop", (event) => {
      event.preventDefault();
      over(false);
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry());
      if (entries.some(Boolean)) for (const entry of entries) entry && walk(entry, "");
      else for (const file of event.dataTransfer.files) enqueue(file, "");
    });
    addEventListener("beforeunload", (event) => { if (running || waiting.length) event.preventDefault(); });
  }

  // On a wide screen, the browser's own viewer shows the original of a PDF beside its passages.
  const offerViewer = () => {
    const original = document.getElementById("original");
    if (!original || !matchMedia("(min-width: 60rem)").matches || !navigator.pdfViewerEnabled) return;
    original.textContent = "Show the original here";
    original.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const frame = document.createElement("iframe");
      frame.className = "viewer";
      frame.title = "The original";
      frame.src = original.href;
      original.closest(".columns").classList.add("even-halves");
      original.closest(".columns > div").prepend(frame);
      original.textContent = "Open the original in a tab";
      original.replaceWith(original.cloneNode(true)); // make it a plain link
    });
  };
  offerViewer();

  // On a phone, the links to pages are in one line that scrolls: the current one is brought into view.
  for (const e of document.querySelectorAll(".tabs [aria-current], .main [aria-current]")) {
    const line = e.parentElement;
    line.scrollLeft = e.offsetLeft - line.offsetLeft - (line.clientWidth - e.offsetWidth) / 2;
  }

  // Scroll to the passage that a link leads to.
  document.querySelector(".chosen")?.scrollIntoView({ block: "center" });

  // The secret of a one-time link follows a "#" and is therefore not sent by browsers. Copy it into the form.
  const secret = document.getElementById("secret");
  if (secret && location.hash.length > 1) {
    secret.value = location.hash.slice(1);
    history.replaceState(null, "", location.pathname);
    const form = document.getElementById("secret-form");
    if (form) form.requestSubmit();
  }
  addEventListener("hashchange", () => { if (secret && location.hash) location.reload(); });

  // In email links, the approval's ID follows a "#".
  const incomplete = document.getElementById("incomplete");
  if (incomplete) {
    const open = () => {
      const id = location.hash.slice(1);
      if (/^[0-9a-fA-F-]{36}$/.test(id)) location.replace("approvals/" + id);
      else incomplete.hidden = false;
    };
    addEventListener("hashchange", open);
    open();
  }

  // An item, either on its own page or beside the table.
  const beside = document.getElementById("beside");
  const item = () => (beside ? !beside.hidden && beside : document.querySelector(".pager") && main) || null;
  let quote = -1;
  const choose = (within, n) => {
    const quotes = within.querySelectorAll(".quote");
    quotes[quote]?.classList.remove("at");
    quote = Math.max(0, Math.min(quotes.length - 1, n));
    quotes[quote]?.classList.add("at");
    quotes[quote]?.scrollIntoView({ block: "nearest" });
  };
  const copy = (text) => navigator.clipboard?.writeText(text).then(() => announce("Copied."), () => announce("The browser does not allow to copy."));
  const announce = (text) => {
    let said = document.getElementById("said");
    if (!said) {
      said = Object.assign(document.createElement("p"), { id: "said", className: "notice good" });
      said.setAttribute("role", "status");
      main.append(said);
    }
    said.textContent = text;
    clearTimeout(said.timer);
    said.timer = setTimeout(() => said.remove(), 4000);
  };
  const itemFields = {
    s: "#implementation_status, #status", a: "#applicability", v: "#severity", o: "#owner", n: "#note, #item-comments", d: "#due_date",
    e: "#rationale, #recommendation, #corrective_action", l: "#level", t: "#target_level", i: "#priority", f: "#effort",
    c: "#condition, #comment", C: "#comment",
  };
  const focusOn = (within, selector) => {
    const field = within.querySelector(selector);
    field?.focus();
    return !!field;
  };
  // itemKey performs the action of a key on an item. It returns false if the key has no action.
  const itemKey = (key) => {
    const within = item();
    if (!within) return false;
    const quotes = within.querySelectorAll(".quote"), past = within.querySelector("#history");
    switch (key) {
      case "]": choose(within, quote + 1); return true;
      case "[": choose(within, quote - 1); return true;
      case "+": case "-": {
        const decision = key === "+" ? "accepted" : "refused";
        const button = quotes[Math.max(0, quote)]?.nextElementSibling?.querySelector(`[value=${decision}] ~ button`);
        button?.click();
        return !!button;
      }
      case "p": quotes[Math.max(0, quote)]?.querySelector("a").click(); return !!quotes.length;
      case "h":
        if (past) past.open = !past.open;
        past?.scrollIntoView({ block: "nearest" });
        return true;
      case "E": {
        const longest = [...within.querySelectorAll(".edit textarea")].sort((x, y) => y.value.length - x.value.length)[0];
        longest?.classList.add("tall");
        longest?.focus();
        return !!longest;
      }
      case "!": within.querySelector(".edit .notice.bad")?.scrollIntoView({ block: "center" }); return true;
      case "Y": copy((within.querySelector(".about") || within).innerText); return true;
      case "u": {
        const undo = within.querySelector("#item-undo");
        undo?.click();
        return !!undo;
      }
    }
    return Object.hasOwn(itemFields, key) && focusOn(within, itemFields[key]);
  };

  // Tables: filter while typing, sort, and move with the keys of the terminal interface.
  const table = document.querySelector("table.items");
  const body = table && table.tBodies[0];
  if (body) {
    document.body.classList.add("scripted");
    const q = document.getElementById("q"), status = document.getElementById("filter-status"), left = document.getElementById("left");
    const many = document.getElementById("many"), box = document.getElementById("many-box"), problem = document.getElementById("problem");
    const noun = location.pathname.split("/").pop();
    const read = (tr) => ({ tr, text: tr.textContent.toLowerCase(), status: tr.cells[2].textContent.trim(), id: tr.querySelector("th a").getAttribute("href").slice(noun.length + 1) });
    let rows = [...body.rows].map(read);
    let at = -1, asked = 0, only = "";
    // After "=", the server finds the rows that an expression selects.
    const unclear = document.getElementById("filter-problem");
    let sought = "", wanted = null, seeking = 0;
    const find = async (expression) => {
      const asks = new URLSearchParams({ ids: 1, q: expression });
      const answer = await fetch(noun + "?" + asks, { headers: { Accept: "text/plain" } }).catch(() => null);
      const text = answer ? await answer.text().catch(() => "") : "";
      if (expression !== sought) return;
      if (answer?.ok && !answer.redirected) {
        wanted = new Set(JSON.parse(text));
        unclear.textContent = "";
      } else {
        unclear.textContent = answer?.status === 400 ? text : "The expression could not be used. Reload the page.";
      }
      filter();
    };
    const filter = () => {
      asked = 0;
      const expression = q.value.trim().startsWith("=") ? q.value.trim() : "";
      if (expression !== sought) {
        sought = expression;
        clearTimeout(seeking);
        if (expression) seeking = setTimeout(find, 250, expression);
        else { wanted = null; unclear.textContent = ""; }
      }
      const words = expression ? [] : q.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const r of rows) {
        const ok = (!status.value || r.status === status.value) && words.every((w) => r.text.includes(w)) &&
          (!wanted || wanted.has(r.id)) && (!only || r.tr.querySelector(only));
        if (r.tr.hidden === !!ok) r.tr.hidden = !ok;
        if (ok) shown++;
      }
      document.getElementById("shown").textContent = shown + " of " + rows.length;
      document.getElementById("none").hidden = shown > 0;
      if (rows[at]?.tr.hidden) mark(-1);
    };
    const soon = () => { if (!asked) asked = requestAnimationFrame(filter); };
    const mark = (to) => {
      rows[at]?.tr.classList.remove("at");
      at = to;
      if (!rows[at]) return;
      const { tr } = rows[at];
      tr.classList.add("at");
      tr.querySelector("a").focus({ preventScroll: true });
      tr.scrollIntoView({ block: "nearest" });
    };
    // go marks a row. If an item is shown beside the table, go shows the row's item there.
    let follow = 0;
    const go = (n) => {
      if (!rows[n] || n !== at && !mayLeave()) return;
      mark(n);
      clearTimeout(follow);
      if (beside.hidden) return;
      follow = setTimeout(() => rows[at] && rows[at].id !== shownID && open(at), 120); // not for rows that are only passed
    };
    const move = (by) => {
      let n = at;
      do n += by; while (rows[n] && rows[n].tr.hidden);
      go(n);
    };
    const seek = (by) => {
      for (let step = 1, n = at; step <= rows.length; step++) {
        n = (n + by + rows.length) % rows.length;
        if (!rows[n].tr.hidden && rows[n].tr.querySelector(".dot")) return go(n);
      }
    };
    // If the URL contains a filter, the server has already applied it. Otherwise, all rows are present.
    if (new URLSearchParams(location.search).toString().replace(/(sort|desc)=[^&]*&?/g, "") === "") {
      q.addEventListener("input", soon);
      status.addEventListener("change", soon);
      q.form.addEventListener("submit", (event) => { event.preventDefault(); event.stopPropagation(); filter(); });
      filter();
    } else {
      status.addEventListener("change", () => q.form.submit());
      document.body.classList.remove("scripted");
    }
    const sort = (th, down) => {
      const n = th.cellIndex, current = rows[at];
      for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (r) => ({ rank: +r.tr.cells[n].dataset.rank || 0, text: r.tr.cells[n].textContent });
      const keyed = rows.map((r) => [key(r), r]);
      keyed.sort(([x], [y]) => (x.rank - y.rank || (x.text < y.text ? -1 : x.text > y.text ? 1 : 0)) * (down ? -1 : 1));
      rows = keyed.map(([, r]) => r);
      body.append(...rows.map((r) => r.tr));
      at = rows.indexOf(current);
    };
    const modified = (event) => event.ctrlKey || event.metaKey || event.shiftKey || event.button;
    table.tHead.addEventListener("click", (event) => {
      const th = event.target.closest("th");
      if (!th || modified(event)) return;
      event.preventDefault();
      sort(th, th.getAttribute("aria-sort") === "ascending");
    });
    // Keep the filter when the visitor returns from an item.
    const kept = "filter " + location.pathname;
    if (!location.search) {
      [q.value, status.value] = JSON.parse(sessionStorage.getItem(kept) || '["",""]');
      if (status.selectedIndex < 0) status.selectedIndex = 0;
      filter();
    }
    addEventListener("pagehide", () => { if (!location.search) sessionStorage.setItem(kept, JSON.stringify([q.value, status.value])); });
    const download = document.querySelector("a.export");
    download.addEventListener("click", () => {
      const asks = new URLSearchParams({ csv: 1, q: q.value, status: status.value });
      if (only) asks.set(only === ".dot" ? "review" : "disputed", "1");
      download.search = asks;
    });

    // On a wide screen, the item is shown beside the table, which stays in place.
    const wide = matchMedia("(min-width: 75rem)");
    let shownID = "", loads = 0, sending = false;
    wide.addEventListener("change", () => { if (!wide.matches && !beside.hidden) close(); });
    const changed = (e) => e.matches("select") ? e.selectedIndex !== Math.max(0, [...e.options].findIndex((o) => o.defaultSelected))
      : e.matches("textarea, input:not([type=hidden])") && e.value !== e.defaultValue;
    const unsaved = () => !beside.hidden && (!!beside.querySelector(".edit .notice.bad, .lost") || [...beside.querySelectorAll("form")].some((f) => [...f.elements].some(changed)));
    const mayLeave = () => !unsaved() || confirm("What you entered for this item is not saved. Go on without it?");
    addEventListener("beforeunload", (event) => { if (unsaved() && !sending) event.preventDefault(); });
    const complain = (text) => {
      const lost = Object.assign(document.createElement("p"), { className: "notice bad lost", textContent: text });
      lost.setAttribute("role", "alert");
      beside.querySelector(".lost")?.remove();
      beside.querySelector(".beside-bar").after(lost);
      beside.scrollTop = 0;
    };
    const button = (text, act) => {
      const b = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: text });
      b.addEventListener("click", act);
      return b;
    };
    const close = () => {
      if (!mayLeave()) return;
      supersede();
      keepPlace(() => { beside.hidden = true; });
      beside.replaceChildren();
      shownID = "";
      history.replaceState(history.state, "", location.pathname + location.search);
      rows[at]?.tr.querySelector("a").focus({ preventScroll: true });
    };
    // keepPlace changes the page while keeping the marked row in place on the screen.
    const keepPlace = (change) => {
      const top = () => rows[at]?.tr.getBoundingClientRect().top;
      const was = top();
      change();
      if (was !== undefined) scrollBy(0, top() - was);
    };
    // supersede cancels a pending load.
    const supersede = () => {
      clearTimeout(follow);
      return ++loads;
    };
    // load shows a page beside the table: an item, a passage, or the response to a form on one of these pages.
    const load = async (url, form) => {
      if (form && sending) return;
      const mine = supersede();
      if (form) sending = true;
      const answer = await fetch(url, {
        method: form ? "POST" : "GET", body: form && new URLSearchParams(new FormData(form)), headers: { Accept: "text/html" },
      }).catch(() => null);
      const text = answer ? await answer.text().catch(() => "") : "";
      if (form && answer?.status === 401) return form.submit(); // to sign in again without losing the input
      if (form) sending = false;
      if (mine !== loads) return;
      const next = new DOMParser().parseFromString(text, "text/html").getElementById("main");
      const isItem = !!next?.querySelector(".pager");
      if (!isItem && !next?.querySelector(".original")) {
        if (!form) return location.assign(url);
        return complain(next?.querySelector(".notice.bad, h1 ~ p")?.textContent || "It could not be sent. Try again.");
      }
      for (const [name, attribute] of [["a", "href"], ["form", "action"]]) {
        for (const e of next.querySelectorAll(`${name}[${attribute}]`)) e.setAttribute(attribute, new URL(e.getAttribute(attribute), answer.url));
      }
      const title = document.createElement("h2"), h1 = next.querySelector("h1"), bar = document.createElement("p");
      title.append(...h1.childNodes);
      h1.replaceWith(title);
      next.querySelector(".crumbs")?.remove();
      localTimes(next);
      bar.className = "beside-bar buttons";
      const accepts = next.querySelector("#accept")?.form;
      if (accepts) bar.append(accepts);
      if (!isItem) {
        bar.append(button("← Back to the item", () => load(noun + "/" + shownID)));
        for (const e of next.querySelectorAll("form, details")) e.remove();
      }
      bar.append(Object.assign(document.createElement("a"), { href: answer.url, textContent: "Open as a page" }), button("Close", close));
      keepPlace(() => { beside.hidden = false; });
      beside.replaceChildren(bar, ...next.childNodes);
      beside.scrollTop = 0;
      quote = -1;
      const chosen = beside.querySelector(".chosen");
      if (chosen) beside.scrollTop = chosen.offsetTop - beside.clientHeight / 3;
      if (isItem) update(new URL(answer.url).pathname.split("/").pop());
    };
    // update updates the row of the displayed item.
    const update = (id) => {
      shownID = id;
      history.replaceState(history.state, "", "#" + id);
      const row = beside.querySelector("template"), fresh = row?.content.querySelector("tr"), n = rows.findIndex((r) => r.id === id);
      row?.remove();
      if (n < 0) { // the change started a new version, which has different items
        sessionStorage.setItem("said", "Saved in a new version.");
        return location.reload();
      }
      const counted = beside.querySelector("#item-left");
      if (left) left.textContent = counted ? counted.textContent : 0;
      if (!fresh) return;
      const tr = document.importNode(fresh, true), old = rows[n].tr;
      if (many) check({ tr }).checked = check(rows[n]).checked;
      tr.hidden = old.hidden;
      tr.className = old.className;
      const focused = old.contains(document.activeElement);
      old.replaceWith(tr);
      rows[n] = read(tr);
      if (focused) tr.querySelector("a").focus({ preventScroll: true });
    };
    const open = (n) => load(rows[n].tr.querySelector("th a").href);
    body.addEventListener("click", (event) => {
      const tr = event.target.closest("tr"), inLink = event.target.closest("a");
      if (!wide.matches || modified(event) || event.target.closest("input") || !inLink && String(getSelection())) return;
      event.preventDefault();
      const n = rows.findIndex((r) => r.tr === tr);
      if (n !== at && !mayLeave()) return;
      mark(n);
      if (rows[n].id !== shownID) open(n);
      else if (inLink) beside.focus();
    });
    beside.addEventListener("submit", (event) => {
      event.preventDefault();
      event.stopPropagation();
      if (event.submitter?.id === "accept") accept(rows.filter((r) => r.id === shownID));
      else load(event.target.action, event.target);
    });
    beside.addEventListener("click", (event) => {
      const a = event.target.closest("a");
      if (!a || modified(event)) return;
      const path = new URL(a.href).pathname;
      if (a.rel === "next") move(1);
      else if (a.rel === "prev") move(-1);
      else if (a.id === "item-review") seek(1);
      else if (path.includes("/passages/") || path.includes("/documents/") && !path.endsWith("/file") && beside.querySelector(".original")) load(a.href);
      else return;
      event.preventDefault();
    });
    document.getElementById("review")?.addEventListener("click", (event) => {
      if (!wide.matches || modified(event)) return;
      event.preventDefault();
      const confidence = [...table.tHead.rows[0].cells].find((th) => th.textContent.trim() === "Confidence");
      if (confidence) sort(confidence, false);
      at = -1;
      for (const r of rows) r.tr.classList.remove("at");
      seek(1);
      if (rows[at]) open(at);
    });

    const check = (r) => r.tr.querySelector("input[type=checkbox]");
    const marked = () => many ? rows.filter((r) => check(r).checked) : [];
    const counted = () => {
      if (!many) return;
      const n = marked().length;
      document.getElementById("chosen").textContent = n ? "– " + n + " chosen" : "";
      box.classList.toggle("some", n > 0);
    };
    const toggleAll = () => {
      const shown = rows.filter((r) => !r.tr.hidden), on = shown.some((r) => !check(r).checked);
      for (const r of shown) check(r).checked = on;
      counted();
    };
    if (many) {
      body.addEventListener("change", counted);
      const all = document.getElementById("choose-all");
      all.hidden = false;
      all.addEventListener("click", toggleAll);
    }
    let agreed = false;
    const accept = async (chosen) => {
      if (!chosen.length || !many?.querySelector("button[value=accept]")) return;
      const { consequence } = many.dataset;
      if (consequence && !agreed && !(agreed = confirm(consequence + " Accept anyway?"))) return;
      const form = new URLSearchParams({ csrf: many.elements.csrf.value, version: many.elements.version.value, do: "accept" });
      for (const r of chosen) form.append("item", r.id);
      if (chosen.length === 1) form.set("revision", chosen[0].tr.dataset.revision);
      const answer = await fetch(many.action, { method: "POST", headers: { Accept: "text/plain" }, body: form }).catch(() => null);
      problem.hidden = answer?.status === 204;
      if (!problem.hidden) {
        problem.textContent = !answer ? "It could not be sent. Try again." : answer.status === 401 ? "Your session has ended: reload the page." : await answer.text();
        if (!beside.hidden) complain(problem.textContent);
        return;
      }
      if (consequence && many.dataset.status !== "under_review") return location.reload(); // the change started a new version
      delete many.dataset.consequence;
      for (const r of chosen) {
        const dot = r.tr.querySelector(".dot");
        if (dot && left) left.textContent -= 1;
        if (dot) dot.remove();
        check(r).checked = false;
        r.tr.dataset.revision = +r.tr.dataset.revision + 1;
      }
      counted();
      const undo = document.getElementById("undo").form, edit = answer.headers.get("Edit-Id");
      undo.elements.edit.value = edit || "";
      undo.hidden = !edit;
      const was = at;
      seek(1);
      if (at === was && !beside.hidden) open(at); // there is no further row
    };
    const edit = (names) => {
      const field = names.split(" ").map((n) => document.getElementById("many-" + n)).find(Boolean);
      if (!field) return;
      if (!marked().length && rows[at]) check(rows[at]).checked = true;
      counted();
      box.open = true;
      field.focus();
    };
    const fields = {
      s: "implementation_status status", a: "applicability", v: "severity", o: "owner", n: "note comments", d: "due_date", e: "rationale", l: "level",
      t: "target_level",
    };
    const acts = {
      j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1), ".": () => seek(1), ",": () => seek(-1),
      Home: () => { at = -1; move(1); }, End: () => { at = rows.length; move(-1); }, G: () => acts.End(),
      "/": () => { q.focus(); q.select(); },
      w: () => { only = only === ".dot" ? "" : ".dot"; filter(); },
      D: () => { only = only === ".differs" ? "" : ".differs"; filter(); },
      x: () => download.click(),
      Y: () => rows[at] && copy([...rows[at].tr.cells].map((c) => c.textContent.trim()).join("\t")),
      A: () => document.getElementById("decide")?.click(),
      g: () => {
        const plan = document.getElementById("timeline");
        if (plan) plan.open = !plan.open;
        plan?.scrollIntoView({ block: "nearest" });
      },
      S: () => document.getElementById("submit")?.focus(),
      Escape: () => {
        if (many && marked().length) { for (const r of marked()) check(r).checked = false; counted(); } else if (!beside.hidden) close();
        else if (only) { only = ""; filter(); }
      },
    };
    if (many) Object.assign(acts, {
      y: () => accept(marked().length ? marked() : rows[at] ? [rows[at]] : []),
      " ": () => { if (rows[at]) check(rows[at]).checked = !check(rows[at]).checked; counted(); move(1); },
      "*": toggleAll,
      u: () => { const undo = document.getElementById("undo"); if (!undo.form.hidden) undo.click(); },
    });
    document.addEventListener("keydown", (event) => {
      if (event.target === q && event.key === "Escape") { q.value = ""; filter(); q.blur(); return; }
      if (event.target === q && event.key === "Enter") { at = -1; move(1); event.preventDefault(); return; }
      if (event.key === "Escape" && beside.contains(event.target) && typing(event)) { event.target.blur(); rows[at]?.tr.querySelector("a").focus({ preventScroll: true }); return; }
      if (typing(event)) return;
      const chosen = marked().length > 0, field = many && Object.hasOwn(fields, event.key);
      const act = Object.hasOwn(acts, event.key) && acts[event.key];
      if (!(act && event.key !== "Y" && event.key !== "u") && !(field && chosen) && itemKey(event.key)) return event.preventDefault();
      if (act) act();
      else if (field) edit(fields[event.key]);
      else return;
      event.preventDefault();
    });
    const said = sessionStorage.getItem("said");
    if (said) announce(said);
    sessionStorage.removeItem("said");
    // Links to an item within its table, like the URL while an item is shown.
    const linkedTo = rows.findIndex((r) => r.id === location.hash.slice(1));
    if (linkedTo >= 0) {
      mark(linkedTo);
      if (wide.matches) open(linkedTo);
    }
  } else {
    document.addEventListener("keydown", (event) => {
      if (typing(event)) return;
      const press = { j: "a[rel=next]", k: "a[rel=prev]", y: "#accept", ".": "#item-review", A: "#decide" };
      const e = Object.hasOwn(press, event.key) && document.querySelector(press[event.key]);
      if (e) e.click();
      else if (!itemKey(event.key)) return;
      event.preventDefault();
    });
  }

  // The ? key shows the keys of the page.
  const help = {
    ...table ? {
      "j k": "down and up", Enter: "open the item, beside the table on a wide screen", Esc: "back to the table; clear the choice or the filter; close the item",
      "/": "filter by words or, after =, an expression", w: "only those to review",
      D: "only those on which the second reader disagrees (≠)", ". ,": "next and previous to review",
      y: "accept the item, or all chosen", "space *": "choose the item, or all shown", x: "export what is shown as CSV", S: "to the button that submits",
      A: "open the decision", ...document.getElementById("timeline") && { g: "timeline of the plan" },
    } : { "j k": "next and previous item", ".": "next to review", y: "accept and go on" },
    "s a v o n d e l t i f c": "change status, applicability, severity, owner, note, due date, rationale or recommendation or action, level, target level, priority, effort or condition" +
      (table ? " of the chosen, or of the item shown" : ""),
    C: "comment; c does so where there is no condition",
    E: "edit the item's longest text", "[ ]": "choose a quote of the item", p: "open the quote in its document",
    "+ -": "accept or refuse the quote for its requirement", h: "history of the item",
    Y: "copy the item", "!": "to what somebody else changed meanwhile", u: "undo",
  };
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || typing(event) || !(table || document.querySelector(".pager"))) return;
    const dialog = document.createElement("dialog"), list = document.createElement("dl"), close = document.createElement("button");
    dialog.className = "keys";
    dialog.setAttribute("aria-label", "Keys");
    for (const [key, does] of Object.entries(help)) {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.append(Object.assign(document.createElement("kbd"), { textContent: key }));
      dd.textContent = does;
      list.append(dt, dd);
    }
    close.textContent = "Close";
    close.onclick = () => dialog.close();
    dialog.onclose = () => dialog.remove();
    dialog.append(list, close);
    document.body.append(dialog);
    dialog.showModal();
  });

  // Comments: typing @ suggests members.
  main.addEventListener("input", (event) => {
    const comment = event.target, people = comment.id === "comment" && comment.form.querySelector(".people");
    if (!people) return;
    const begun = /@([^\s@]*)$/.exec(comment.value.slice(0, comment.selectionStart));
    let shown = 0;
    people.hidden = !begun;
    for (const li of people.children) li.hidden = !begun || !li.textContent.toLowerCase().includes(begun[1].toLowerCase()) || ++shown > 6;
  });
  main.addEventListener("click", (event) => {
    const chosen = event.target.closest(".people button"), people = chosen && chosen.closest(".people");
    if (!chosen) return;
    const { comment } = chosen.form.elements, end = comment.selectionStart;
    comment.setRangeText(chosen.value + " ", comment.value.lastIndexOf("@", end - 1) + 1, end, "end");
    people.hidden = true;
    comment.focus();
  });

  function typing(event) {
    return event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  }

  // A form is only submitted once, however often its button is pressed.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => { for (const f of document.forms) delete f.dataset.sent; });
})();
