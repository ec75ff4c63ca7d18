"use strict";

// The script of the pages. Every page also works without it.
(() => {
  // Times in the reader's zone.
  const localTimes = (within) => {
    for (const t of within.querySelectorAll("time[datetime]")) {
      const at = new Date(t.dateTime);
      if (isNaN(at)) continue;
      t.title = t.textContent;
      t.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
    }
  };
  localTimes(document);

  // Progress: the page is loaded again when the server announces a change, unless the reader is entering something.
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
    };
    events.addEventListener("change", reload);
    events.addEventListener("open", () => { if (main.dataset.busy) reload(); }); // it may have changed meanwhile
    addEventListener("pagehide", () => events.close());
  }

  // Pages for the user of this machine report that they are open, so that the program ends after the last was closed.
  if (document.body.dataset.open) {
    const address = document.body.dataset.open + "?id=" + Math.random().toString(36).slice(2);
    const report = () => fetch(address, { method: "POST", keepalive: true }).catch(() => {});
    addEventListener("pageshow", report);
    addEventListener("pagehide", () => navigator.sendBeacon(address + "&closed"));
    setInterval(report, 30000);
  }

  // Documents: dropped files and folders wait in a queue; each is sent on its own, with its progress.
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

  // A passage that a link leads to is brought into view.
  document.querySelector(".chosen")?.scrollIntoView({ block: "center" });

  // The secret of a one-time link follows a "#", which browsers don't send: it goes into the form.
  const secret = document.getElementById("secret");
  if (secret && location.hash.length > 1) {
    secret.value = location.hash.slice(1);
    history.replaceState(null, "", location.pathname);
    const form = document.getElementById("secret-form");
    if (form) form.requestSubmit();
  }
  addEventListener("hashchange", () => { if (secret && location.hash) location.reload(); });

  // The links in emails have the approval's ID behind a "#".
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

  // Tables: filter as you type, sort, and move by the keys of the terminal interface.
  const table = document.querySelector("table.items");
  const body = table && table.tBodies[0];
  if (body) {
    document.body.classList.add("scripted");
    const q = document.getElementById("q"), status = document.getElementById("status");
    let rows = [...body.rows].map((tr) => ({ tr, text: tr.textContent.toLowerCase(), status: tr.cells[2].textContent.trim() }));
    let at = -1, asked = 0;
    const filter = () => {
      asked = 0;
      const words = q.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const r of rows) {
        const ok = (!status.value || r.status === status.value) && words.every((w) => r.text.includes(w));
        if (r.tr.hidden === ok) r.tr.hidden = !ok;
        if (ok) shown++;
      }
      document.getElementById("shown").textContent = shown + " of " + rows.length;
      document.getElementById("none").hidden = shown > 0;
      mark(-1);
    };
    const soon = () => { if (!asked) asked = requestAnimationFrame(filter); };
    const mark = (to) => {
      if (rows[at]) rows[at].tr.classList.remove("at");
      at = to;
      if (!rows[at]) return;
      const { tr } = rows[at];
      tr.classList.add("at");
      tr.querySelector("a").focus({ preventScroll: true });
      tr.scrollIntoView({ block: "nearest" });
    };
    const move = (by) => {
      let n = at;
      do n += by; while (rows[n] && rows[n].tr.hidden);
      if (rows[n]) mark(n);
    };
    // The server has filtered by what is in the address; without it, every row is here.
    if (new URLSearchParams(location.search).toString().replace(/(sort|desc)=[^&]*&?/g, "") === "") {
      q.addEventListener("input", soon);
      status.addEventListener("change", soon);
      q.form.addEventListener("submit", (event) => { event.preventDefault(); event.stopPropagation(); filter(); });
      filter();
    } else {
      status.addEventListener("change", () => q.form.submit());
      document.body.classList.remove("scripted");
    }
    table.tHead.addEventListener("click", (event) => {
      const th = event.target.closest("th");
      if (!th || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const n = th.cellIndex, down = th.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (r) => ({ rank: +r.tr.cells[n].dataset.rank || 0, text: r.tr.cells[n].textContent });
      const keyed = rows.map((r) => [key(r), r]);
      keyed.sort(([x], [y]) => (x.rank - y.rank || (x.text < y.text ? -1 : x.text > y.text ? 1 : 0)) * (down ? -1 : 1));
      rows = keyed.map(([, r]) => r);
      body.append(...rows.map((r) => r.tr));
      at = -1;
    });
    // What was filtered is kept when the reader comes back from an item.
    const kept = "filter " + location.pathname;
    if (!location.search) {
      [q.value, status.value] = JSON.parse(sessionStorage.getItem(kept) || '["",""]');
      if (status.selectedIndex < 0) status.selectedIndex = 0;
      filter();
    }
    addEventListener("pagehide", () => sessionStorage.setItem(kept, JSON.stringify([q.value, status.value])));

    const many = document.getElementById("many"), box = document.getElementById("many-box"), problem = document.getElementById("problem");
    const check = (r) => r.tr.querySelector("input[type=checkbox]");
    const marked = () => many ? rows.filter((r) => check(r).checked) : [];
    const counted = () => { if (many) document.getElementById("chosen").textContent = marked().length + " chosen."; };
    body.addEventListener("change", counted);
    const seek = (by) => {
      for (let step = 1, n = at; step <= rows.length; step++) {
        n = (n + by + rows.length) % rows.length;
        if (!rows[n].tr.hidden && rows[n].tr.querySelector(".dot")) return mark(n);
      }
    };
    const accept = async () => {
      const chosen = marked().length ? marked() : rows[at] ? [rows[at]] : [];
      if (!chosen.length || !many || !many.querySelector("button[value=accept]")) return;
      const form = new URLSearchParams({ csrf: many.elements.csrf.value, version: many.elements.version.value, do: "accept" });
      for (const r of chosen) form.append("item", check(r).value);
      if (chosen.length === 1) form.set("revision", chosen[0].tr.dataset.revision);
      const answer = await fetch(many.action, { method: "POST", headers: { Accept: "text/plain" }, body: form });
      problem.hidden = answer.status === 204;
      if (!problem.hidden) {
        problem.textContent = answer.status === 401 ? "Your session has ended: reload the page." : await answer.text();
        return;
      }
      const left = document.getElementById("left");
      for (const r of chosen) {
        const dot = r.tr.querySelector(".dot");
        if (dot && left) left.textContent -= 1;
        if (dot) dot.remove();
        check(r).checked = false;
        r.tr.dataset.revision = +r.tr.dataset.revision + 1;
      }
      counted();
      document.getElementById("undo").form.hidden = false;
      seek(1);
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
    };
    const shown = () => rows.filter((r) => !r.tr.hidden);
    let onlyReview = false;
    const acts = {
      j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1), ".": () => seek(1), ",": () => seek(-1),
      Home: () => { mark(-1); move(1); }, End: () => { at = rows.length; move(-1); }, G: () => acts.End(),
      "/": () => { q.focus(); q.select(); },
      w: () => { onlyReview = !onlyReview; for (const r of rows) r.tr.hidden = onlyReview && !r.tr.querySelector(".dot"); },
    };
    if (many) Object.assign(acts, {
      y: accept,
      " ": () => { if (rows[at]) check(rows[at]).checked = !check(rows[at]).checked; counted(); move(1); },
      "*": () => { const on = shown().some((r) => !check(r).checked); for (const r of shown()) check(r).checked = on; counted(); },
      Escape: () => { for (const r of marked()) check(r).checked = false; counted(); },
      u: () => document.getElementById("undo").click(),
      S: () => document.getElementById("submit")?.focus(),
    });
    document.addEventListener("keydown", (event) => {
      if (event.target === q && event.key === "Escape") { q.value = ""; filter(); q.blur(); }
      if (event.target === q && event.key === "Enter") { move(1); event.preventDefault(); }
      if (typing(event)) return;
      const act = acts[event.key] || many && fields[event.key] && (() => edit(fields[event.key]));
      if (!act) return;
      act();
      event.preventDefault();
    });
  }

  // Items: the keys of the terminal interface.
  const quotes = [...document.querySelectorAll(".quote")];
  let quote = -1;
  const choose = (n) => {
    quotes[quote]?.classList.remove("at");
    quote = Math.max(0, Math.min(quotes.length - 1, n));
    quotes[quote]?.classList.add("at");
    quotes[quote]?.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (typing(event) || table) return;
    const past = document.getElementById("history");
    const keys = {
      j: "a[rel=next]", k: "a[rel=prev]", y: "#accept", ".": "#review", u: "#undo", s: "#implementation_status, #status", a: "#applicability",
      v: "#severity", o: "#owner", n: "#note", d: "#due_date", e: "#rationale, #recommendation", l: "#level",
    };
    if (event.key === "]") choose(quote + 1);
    if (event.key === "[") choose(quote - 1);
    if (event.key === "p" && quotes.length) quotes[Math.max(0, quote)].querySelector("a").click();
    if (event.key === "h" && past) { past.open = !past.open; past.scrollIntoView({ block: "nearest" }); }
    const e = Object.hasOwn(keys, event.key) && document.querySelector(keys[event.key]);
    if (!e) return;
    e.focus();
    if (/^(A|BUTTON)$/.test(e.tagName)) e.click();
    event.preventDefault();
  });

  // ? shows the keys of the page.
  const help = table ? {
    "j k": "down and up", "/": "filter", ". ,": "next and previous to review", y: "accept the item, or all chosen", "space *": "choose the item, or all shown",
    "s a v l o n d e": "change status, applicability, severity, level, owner, note, due date or rationale of the chosen", u: "undo",
    w: "only those to review", Enter: "open", Esc: "clear the filter or the choice", S: "to the button that submits",
  } : {
    "j k": "next and previous item", ".": "next to review", y: "accept and go on", "s a v l o n d e": "change a field", "[ ]": "choose a quote",
    p: "open the quote in its document", h: "history", u: "undo",
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

  // Comments: @ suggests people.
  const comment = document.getElementById("comment"), people = document.querySelector(".people");
  if (comment && people) {
    comment.addEventListener("input", () => {
      const begun = /@([^\s@]*)$/.exec(comment.value.slice(0, comment.selectionStart));
      let shown = 0;
      people.hidden = !begun;
      for (const li of people.children) li.hidden = !begun || !li.textContent.toLowerCase().includes(begun[1].toLowerCase()) || ++shown > 6;
    });
    people.addEventListener("click", (event) => {
      const chosen = event.target.closest("button");
      if (!chosen) return;
      const end = comment.selectionStart;
      comment.setRangeText(chosen.value + " ", comment.value.lastIndexOf("@", end - 1) + 1, end, "end");
      people.hidden = true;
      comment.focus();
    });
  }

  function typing(event) {
    return event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  }

  // A form is sent once, however often its button is pressed.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => { for (const f of document.forms) delete f.dataset.sent; });
})();
