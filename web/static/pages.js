"use strict";

// The script of the pages. Every page also works without it.
(() => {
  // Times in the reader's zone.
  for (const t of document.querySelectorAll("time[datetime]")) {
    const at = new Date(t.dateTime);
    if (isNaN(at)) continue;
    t.title = t.textContent;
    t.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  }

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
    document.addEventListener("keydown", (event) => {
      if (event.target === q && event.key === "Escape") { q.value = ""; filter(); q.blur(); }
      if (event.target === q && event.key === "Enter") { move(1); event.preventDefault(); }
      if (typing(event)) return;
      if (event.key === "j" || event.key === "ArrowDown") { move(1); event.preventDefault(); }
      if (event.key === "k" || event.key === "ArrowUp") { move(-1); event.preventDefault(); }
      if (event.key === "/") { q.focus(); q.select(); event.preventDefault(); }
      if (event.key === ".") document.getElementById("review")?.click();
    });
  }

  // Items: the keys of the terminal interface.
  document.addEventListener("keydown", (event) => {
    if (typing(event) || table) return;
    const keys = {
      j: "a[rel=next]", k: "a[rel=prev]", y: "#accept", s: "#implementation_status, #status", a: "#applicability",
      v: "#severity", o: "#owner", n: "#note", d: "#due_date", e: "#rationale, #recommendation",
    };
    const e = Object.hasOwn(keys, event.key) && document.querySelector(keys[event.key]);
    if (!e) return;
    e.focus();
    if (/^(A|BUTTON)$/.test(e.tagName)) e.click();
    event.preventDefault();
  });

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
