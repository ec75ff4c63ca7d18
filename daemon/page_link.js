"use strict";

// The page of a one-time link: says what the link is for, takes a name and a password,
// and uses the link up. Addresses are relative, so that it works below a proxy's path too.
(() => {
  const at = (id) => document.getElementById(id);
  const token = decodeURIComponent(location.hash.slice(1));
  const roles = { owner: "an owner", admin: "an admin", member: "a member", viewer: "a viewer" };
  const shortest = 12;
  let link;

  const heading = (title, text) => {
    document.title = title + " – service";
    at("title").textContent = title;
    at("text").textContent = text || "";
    at("title").focus();
  };

  // ask posts JSON; what is thrown is a sentence for people.
  const ask = async (path, body) => {
    let answer;
    try {
      answer = await fetch(path, {
        method: "POST", credentials: "same-origin", cache: "no-store",
        headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
      });
    } catch {
      throw new Error("The service does not answer. Look whether you are connected, and try again.");
    }
    const said = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      const error = new Error(sentence((said.error && said.error.message) || "The service answered " + answer.status + "."));
      error.field = said.error && said.error.details && said.error.details[0] && said.error.details[0].field;
      throw error;
    }
    return said;
  };

  const sentence = (s) => s.charAt(0).toUpperCase() + s.slice(1) + (/[.!?]$/.test(s) ? "" : ".");

  const complain = (message, ...fields) => {
    for (const id of ["password", "again"]) at(id).removeAttribute("aria-invalid");
    at("error").textContent = message;
    for (const id of fields) at(id).setAttribute("aria-invalid", "true");
    if (fields.length) at(fields[0]).focus();
  };

  const show = () => {
    const invited = link.purpose === "invite";
    const until = new Date(link.expires_at).toLocaleString();
    if (invited) {
      heading("Join " + link.organization, "You are invited to be " + (roles[link.role] || link.role) + " of " + link.organization + ". The link is good once, until " + until + ".");
    } else {
      heading("Set a new password", "For " + link.email + ". The link is good once, until " + until + ". Your other sessions end.");
    }
    at("email").value = link.email;
    at("naming").hidden = !invited || !link.needs_password;
    at("repeating").hidden = !link.needs_password;
    at("password").autocomplete = link.needs_password ? "new-password" : "current-password";
    at("password-label").textContent = link.needs_password ? "New password" : "Your password here";
    at("password-hint").textContent = link.needs_password
      ? "At least " + shortest + " characters; a sentence of four words is easy to keep."
      : "You have an account already. Its password shows that it is you who joins.";
    at("send").textContent = invited ? "Join" : "Set the password";
    at("form").hidden = false;
  };

  const send = async (event) => {
    event.preventDefault();
    const password = at("password").value;
    if (link.needs_password && [...password].length < shortest) {
      return complain("The password has fewer than " + shortest + " characters.", "password");
    }
    if (link.needs_password && password !== at("again").value) {
      return complain("The two passwords differ.", "again", "password");
    }
    if (!password) {
      return complain("The password is missing.", "password");
    }
    complain("");
    at("send").disabled = true;
    try {
      const body = { token, password };
      const name = at("name").value.trim();
      if (name && !at("naming").hidden) body.name = name;
      await ask("api/auth/accept-link", body);
    } catch (error) {
      complain(error.message, ...(error.field === "password" ? ["password"] : []));
      return;
    } finally {
      at("send").disabled = false;
    }
    history.replaceState(null, "", location.pathname); // the token is used up
    at("form").reset();
    at("form").hidden = true;
    at("command").textContent = "service login " + location.origin + location.pathname.replace(/\/link$/, "");
    at("done").hidden = false;
    heading(link.purpose === "invite" ? "Welcome to " + link.organization : "The new password is set", "");
  };

  const open = async () => {
    if (!token) {
      heading("This link is not complete", "Copy all of it, with what stands behind the # sign.");
      return;
    }
    try {
      link = await ask("api/auth/link", { token });
    } catch (error) {
      heading("This link can't be used", error.message);
      return;
    }
    show();
  };

  at("form").addEventListener("submit", send);
  at("show").addEventListener("change", () => {
    for (const id of ["password", "again"]) at(id).type = at("show").checked ? "text" : "password";
  });
  // Another link pasted into the same page is another page.
  addEventListener("hashchange", () => { if (location.hash) location.reload(); });
  open();
})();
