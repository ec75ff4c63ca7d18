"use strict";

// The page of a one-time link: shows the purpose of the link, asks for a name and a password,
// and accepts the link. Addresses are relative, so that it works below a proxy's path too.
(() => {
  const at = (id) => document.getElementById(id);
  const token = decodeURIComponent(location.hash.slice(1));
  const roles = { owner: "an owner", admin: "an admin", member: "a member", viewer: "a viewer" };
  const minPasswordLength = 12;
  let link;

  const heading = (title, text) => {
    document.title = title + " – service";
    at("title").textContent = title;
    at("text").textContent = text || "";
    at("title").focus();
  };

  // ask posts JSON and returns the reply; it throws an error with a message for the user.
  const ask = async (path, body) => {
    let answer;
    try {
      answer = await fetch(path, {
        method: "POST", credentials: "same-origin", cache: "no-store",
        headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
      });
    } catch {
      throw new Error("The service does not respond. Check your connection and try again.");
    }
    const reply = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      const error = new Error(sentence((reply.error && reply.error.message) || "The service replied with status " + answer.status + "."));
      error.field = reply.error && reply.error.details && reply.error.details[0] && reply.error.details[0].field;
      throw error;
    }
    return reply;
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
      heading("Join " + link.organization, "You are invited to join " + link.organization + " as " + (roles[link.role] || link.role) + ". This single-use link expires " + until + ".");
    } else {
      heading("Set a new password", "For " + link.email + ". This single-use link expires " + until + ". You will be signed out everywhere else.");
    }
    at("email").value = link.email;
    at("naming").hidden = !invited;
    at("password").autocomplete = invited ? "current-password" : "new-password";
    at("password-label").textContent = invited ? "Password" : "New password";
    at("password-hint").textContent = (invited ? "If you have an account here, enter its password. Otherwise choose one: at least " : "At least ") +
      minPasswordLength + " characters; four random words are easy to remember.";
    at("send").textContent = invited ? "Join" : "Set the password";
    at("form").hidden = false;
  };

  const send = async (event) => {
    event.preventDefault();
    const password = at("password").value;
    if ([...password].length < minPasswordLength) {
      return complain("The password must have at least " + minPasswordLength + " characters.", "password");
    }
    if (password !== at("again").value) {
      return complain("The passwords don't match.", "again", "password");
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
    history.replaceState(null, "", location.pathname); // the token can't be used again
    at("form").reset();
    at("form").hidden = true;
    at("command").textContent = "service login " + location.origin + location.pathname.replace(/\/link$/, "");
    at("done").hidden = false;
    heading(link.purpose === "invite" ? "Welcome to " + link.organization : "Your new password is set", "");
  };

  const open = async () => {
    if (!token) {
      heading("This link is incomplete", "Copy the whole link, including the part after the # sign.");
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
  // A different link pasted into the address bar opens that link.
  addEventListener("hashchange", () => { if (location.hash) location.reload(); });
  open();
})();
