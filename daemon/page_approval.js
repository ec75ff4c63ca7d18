"use strict";

// The page of a decision: shows what waits, to somebody who is signed in and may see it, and
// takes a yes or a no. Addresses are relative, so that it works below a proxy's path too.
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

  // ask calls an operation; what is thrown is a sentence for people, with the status.
  const ask = async (method, path, body) => {
    let answer;
    try {
      const headers = {};
      if (body) headers["Content-Type"] = "application/json";
      if (organization) headers["x-service-tenant-id"] = organization;
      answer = await fetch(path, { method, credentials: "same-origin", cache: "no-store", headers, body: body ? JSON.stringify(body) : undefined });
    } catch {
      throw new Error("The service does not answer. Look whether you are connected, and try again.");
    }
    const said = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      const error = new Error(sentence((said.error && said.error.message) || "The service answered " + answer.status + "."));
      error.status = answer.status;
      throw error;
    }
    return said;
  };

  const askToSignIn = () => {
    heading("Sign in", "A decision waits. It is shown to those who may see it.");
    at("signing").hidden = false;
    at("email").focus();
  };

  // find looks in each of the person's organizations: the link does not name one.
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
    throw new Error("There is no such decision in your organizations.");
  };

  const show = async () => {
    at("signing").hidden = true;
    approval = await find();
    const assessment = await ask("GET", "api/v1/assessments/" + encodeURIComponent(approval.assessment_id));
    const what = gates[approval.gate] || approval.gate;
    at("what").textContent = "Version " + approval.version_number + " of the " + what + ", asked for by " + approval.requested_by.name + " on " + new Date(approval.requested_at).toLocaleString() + ".";
    at("hash").textContent = "The decision is for the content with the SHA-256 " + approval.target_sha256 + ". Read it before you decide, for instance with:";
    const names = { soa: "soa", gap_analysis: "gap", maturity: "maturity", poam: "poam" };
    at("command").textContent = "service --server " + location.href.replace(/\/approval[^/]*$/, "") + " " + (names[approval.gate] || "approval") + " show --assessment " + approval.assessment_id;
    at("facts").hidden = false;
    const waits = approval.status === "pending";
    at("deciding").hidden = !waits;
    heading(assessment.name, waits ? "The " + what + " waits for a decision." : "The " + what + " is " + approval.status + (approval.decided_by ? ", by " + approval.decided_by.name : "") + ".");
  };

  const decide = async (verb) => {
    const reason = at("reason").value.trim();
    if (verb === "reject" && !reason) {
      at("reason").focus();
      return complain("Say why: whoever has to mend it reads the reason.");
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
    if (!id) return heading("This link is not complete", "Copy all of it, with what stands behind the # sign.");
    try {
      await show();
    } catch (error) {
      if (error.status === 401) return askToSignIn();
      heading("This can't be shown", error.message);
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
  // Enter in the comment decides nothing: who types a reason may mean either.
  at("deciding").addEventListener("submit", (event) => event.preventDefault());
  at("approve").addEventListener("click", () => decide("approve"));
  at("reject").addEventListener("click", () => decide("reject"));
  addEventListener("hashchange", () => location.reload());
  open();
})();
