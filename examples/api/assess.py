#!/usr/bin/env python3
"""From a folder of documents to a Statement of Applicability that waits for a decision.

    SERVICE_URL=https://grc.acme.example SERVICE_TOKEN=service_live_... ./assess.py FOLDER [FRAMEWORK]

Python 3.9 or newer, and nothing beside it. The exit code is 4 where a person has to decide now,
and 3 where something went wrong; what, is on stderr.
"""

import json
import mimetypes
import os
import pathlib
import sys
import time
import urllib.error
import urllib.request
import uuid


class Refused(Exception):
    """What the service answered instead of doing it."""


class Service:
    def __init__(self, url, token):
        self.base = url.rstrip("/") + "/api/v1"
        self.headers = {"Authorization": "Bearer " + token, "Accept": "application/json"}

    def send(self, method, path, body=None, content_type="application/json", tries=5):
        request = urllib.request.Request(self.base + path, data=body, method=method, headers=dict(self.headers))
        if body is not None:
            request.add_header("Content-Type", content_type)
        if method == "POST":
            # If it is sent again after the connection was lost, it is still executed only once.
            request.add_header("Idempotency-Key", str(uuid.uuid4()))
        for left in reversed(range(tries)):
            try:
                with urllib.request.urlopen(request, timeout=120) as answer:
                    text = answer.read()
                    return json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                text = error.read()
                if error.code == 429 and left:
                    time.sleep(min(60, int(error.headers.get("Retry-After", "1"))))
                    continue
                try:
                    message = json.loads(text)["error"]["message"]
                except (ValueError, KeyError, TypeError):
                    message = text.decode("utf-8", "replace")[:200]
                raise Refused(f"{method} {path}: {error.code}: {message}") from None
            except urllib.error.URLError as error:
                if left:
                    time.sleep(1)
                    continue
                raise Refused(f"{self.base} does not answer: {error.reason}") from None

    def get(self, path):
        return self.send("GET", path)

    def post(self, path, record):
        return self.send("POST", path, json.dumps(record).encode())

    def all(self, path):
        """Every record of a list, page by page."""
        cursor = ""
        while cursor is not None:
            page = self.get(f"{path}{'&' if '?' in path else '?'}limit=200{'&cursor=' + cursor if cursor else ''}")
            yield from page["data"]
            cursor = page["pagination"]["next_cursor"]

    def upload(self, path, file):
        edge = uuid.uuid4().hex
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        name = file.name.replace("\\", "\\\\").replace('"', '\\"')
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: {kind}\r\n\r\n'
        body = head.encode() + file.read_bytes() + f"\r\n--{edge}--\r\n".encode()
        return self.send("POST", path, body, f"multipart/form-data; boundary={edge}")


def assess(service, folder, framework):
    organizations = service.get("/users/me/organizations")["data"]
    if not organizations:
        raise Refused("the key belongs to no organization")
    service.headers["X-Service-Tenant-Id"] = organizations[0]["id"]

    assessment = service.post("/assessments", {"name": "By Python", "framework_id": framework})
    here = "/assessments/" + assessment["id"]
    print("assessment", assessment["id"])
    for file in sorted(p for p in folder.iterdir() if p.is_file()):
        print(" ", service.upload(here + "/documents", file)["filename"])

    run = service.post(here + "/workflows/lifecycle/start", {})
    while run["status"] in ("pending", "running"):
        time.sleep(1)
        run = service.get("/workflows/" + run["id"])
    if not (run["status"].startswith("waiting") or run["status"] == "completed"):
        raise Refused(f"the run {run['id']} is {run['status']}: {run.get('error')}")

    status = service.get(here + "/status")
    soa = service.get(here + "/soa")["data"][0]
    items = list(service.all(f"/soa/{soa['id']}/items?status=not_evidenced"))
    print(f"{len(items)} controls have no evidence, among them:")
    for item in items[:5]:
        print(" ", item["control_code"], item.get("title") or item.get("reason"))
    print("state:", status["state"])
    if status.get("pending_approval_id"):
        print(f"to decide: POST {service.base}/approvals/{status['pending_approval_id']}/approve, with a key that has approval:decide")
        return 4
    return 0


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    token = os.environ.get("SERVICE_TOKEN")
    if not token:
        sys.exit("set SERVICE_TOKEN to an API key of `service key create`")
    folder = pathlib.Path(sys.argv[1])
    if not folder.is_dir():
        sys.exit(f"{folder} is no folder")
    try:
        service = Service(os.environ.get("SERVICE_URL", "http://127.0.0.1:8080"), token)
        sys.exit(assess(service, folder, sys.argv[2] if len(sys.argv) == 3 else "iso-27001-2022"))
    except Refused as refused:
        print(refused, file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
