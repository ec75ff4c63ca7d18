"use strict";

// The page of an approval: shows what is waiting to a signed-in user who may see it, and approves or
// rejects it. Addresses are relative, so that it works below a proxy's path too.
(() => {
  const at = (id) => document.getElementById(id);
  const id = decodeURIComponent(location.hash.slice(1));
  const gates = { soa: "Statement of Applicability", gap_analysis: "gap analysis", maturity: "maturity assessment", poam: "plan of action and milestones" };
  let approval, organization;

  const heading = (title, text) => {
    document.title = title + " – service";
    at("title").textContent = title;
    at("text").textContent = text || "";
    at("title").focus();
  };
  const complain = (message) => { at("error").textContent = message; };
  const sentence = (s) => s.charAt(0).toUpperCase() + s.slice(1) + (/[.!?]$/.test(s) ? "" : ".");

  // ask calls an operation and returns the reply; it throws an error with a message for the user and the status.
  const ask = async (method, path, body) => {
    let answer;
    try {
      const headers = {};
      if (body) headers["Content-Type"] = "application/json";
      if (organization) headers["x-service-tenant-id"] = organization;
      answer = await fetch(path, { method, credentials: "same-origin", cache: "no-store", headers, body: body ? JSON.stringify(body) : undefined });
    } catch {
      throw new Error("The service does not respond. Check your connection and try again.");
    }
    const reply = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      const error = new Error(sentence((reply.error && reply.error.message) || "The service replied with status " + answer.status + "."));
      error.status = answer.status;
      throw error;
    }
    return reply;
  };

  const askToSignIn = () => {
    heading("Sign in", "A decision is waiting. Sign in to see it.");
    at("signing").hidden = false;
    at("email").focus();
  };

  // find looks in each of the user's organizations, because the link does not name one.
  const find = async () => {
    const all = await ask("GET", "api/v1/organizations?limit=100");
    for (const o of all.data) {
      organization = o.id;
      try {
        return await ask("GET", "api/v1/approvals/" + encodeURIComponent(id));
      } catch (error) {
        if (error.status !== 404 && error.status !== 403) throw error;
      }
    }
    organization = undefined;
    throw new Error("None of your organizations has this decision.");
  };

  const show = async () => {
    at("signing").hidden = true;
    approval = await find();
    const assessment = await ask("GET", "api/v1/assessments/" + encodeURIComponent(approval.assessment_id));
    const what = gates[approval.gate] || approval.gate;
    at("what").textContent = "Version " + approval.version_number + " of the " + what + ", requested by " + approval.requested_by.name + " on " + new Date(approval.requested_at).toLocaleString() + ".";
    at("warnings").replaceChildren(...approval.warnings.map((w) => Object.assign(document.createElement("li"), { textContent: w })));
    at("hash").textContent = "The decision applies to the content with SHA-256 " + approval.target_sha256 + ". Read it before you decide, for example with:";
    const names = { soa: "soa", gap_analysis: "gap", maturity: "maturity", poam: "poam" };
    at("command").textContent = "service --server " + location.href.replace(/\/approval[^/]*$/, "") + " " + (names[approval.gate] || "approval") + " show --assessment " + approval.assessment_id;
    at("facts").hidden = false;
    const waits = approval.status === "pending";
    const keys = [approval.bundle_key, approval.remote_key].filter(Boolean).map((k) => " (bundle key " + k.name + ")").join("");
    at("deciding").hidden = !waits;
    heading(assessment.name, waits ? "The " + what + " is waiting for a decision." : "The " + what + " is " + approval.status + (approval.decided_by ? " by " + approval.decided_by.name : "") + keys + ".");
  };

  const decide = async (verb) => {
    const reason = at("reason").value.trim();
    if (verb === "reject" && !reason) {
      at("reason").focus();
      return complain("Give a reason, so that the author knows what to correct.");
    }
    complain("");
    const body = { content_sha256: approval.target_sha256 };
    if (verb === "reject") body.reason = reason; else if (reason) body.comment = reason;
    for (const b of ["approve", "reject"]) at(b).disabled = true;
    try {
      await ask("POST", "api/v1/approvals/" + encodeURIComponent(id) + "/" + verb, body);
      await show();
    } catch (error) {
      complain(error.message);
    } finally {
      for (const b of ["approve", "reject"]) at(b).disabled = false;
    }
  };

  const open = async () => {
    if (!id) return heading("This link is incomplete", "Copy the whole link, including the part after the # sign.");
    try {
      await show();
    } catch (error) {
      if (error.status === 401) return askToSignIn();
      heading("This decision can't be shown", error.message);
    }
  };

  at("signing").addEventListener("submit", async (event) => {
    event.preventDefault();
    complain("");
    try {
      await ask("POST", "api/auth/sign-in/email", { email: at("email").value, password: at("password").value });
    } catch (error) {
      return complain(error.message);
    }
    at("signing").reset();
    open();
  });
  // Pressing Enter in the comment does not decide: a comment can go with either decision.
  at("deciding").addEventListener("submit", (event) => event.preventDefault());
  at("approve").addEventListener("click", () => decide("approve"));
  at("reject").addEventListener("click", () => decide("reject"));
  addEventListener("hashchange", () => location.reload());
  open();
})();
