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

  // A form is sent once, however often its button is pressed.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => { for (const f of document.forms) delete f.dataset.sent; });
})();
