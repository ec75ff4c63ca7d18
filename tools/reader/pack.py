#!/usr/bin/env python3
"""Makes a pack of training data from an invented organization's documents and their labels. data/README.md describes both."""

import argparse
import json
import os
import shutil
import subprocess
import tempfile

import examples as ex

LABELS = ("states", "part", "plans", "contradicts")


def read_passages(service, folder):
    """Returns the passages that the program reads in the Markdown documents of a folder."""
    out = []
    with tempfile.TemporaryDirectory() as data:
        def run(*arguments):
            command = [service, *arguments, "--data", data, "-o", "json"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{' '.join(command)}: {done.stderr or done.stdout}")
            return json.loads(done.stdout)

        run("assess", "create", "pack", "-f", "iso-27001-2022")
        files = sorted(f for f in os.listdir(folder) if f.endswith(".md"))
        run("doc", "add", *[os.path.join(folder, f) for f in files])
        for file in files:
            title = run("doc", "show", file)["title"]
            for c in run("doc", "chunks", file)["data"]:
                out.append({"n": len(out) + 1, "file": file, "title": title, "headings": c["heading_path"], "kind": c["kind"], "text": c["text"]})
    return out


def read_labels(file, passages):
    """Returns the settings and labels of labels.txt. Every mistake in it is reported."""
    texts = [" ".join(p["text"].split()) for p in passages]
    settings, labels, mistakes = {}, {}, []
    for number, line in enumerate(open(file, encoding="utf-8"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if " | " not in line:
            key, _, value = line.partition(":")
            settings[key.strip()] = value.strip()
            continue
        left, words = line.split(" | ", 1)
        reference, _, label = left.partition(" ")
        control, _, index = reference.partition("#")
        label, words = label.strip(), " ".join(words.split())
        statements = ex.STATEMENTS.get(control, [])
        holders = [i for i, t in enumerate(texts) if words in t]
        mistake = ""
        if not index.isdigit() or not 1 <= int(index) <= len(statements):
            mistake = f"there is no statement {reference}"
        elif control not in settings.get("controls", "").split():
            mistake = f"{control} is not among the controls"
        elif label not in LABELS:
            mistake = f"{label!r} is not one of {', '.join(LABELS)}"
        elif not holders:
            mistake = f"no passage holds {words!r}"
        elif not any(words in " ".join(w.split()) for w in ex.windows(passages[holders[0]]["text"])):
            mistake = f"no window of {ex.WINDOW} characters holds {words!r}; quote fewer words"
        elif (reference, holders[0]) in labels:
            mistake = f"passage {holders[0] + 1} has a label for {reference} already"
        if mistake:
            mistakes.append(f"{file}:{number}: {mistake}")
            continue
        labels[reference, holders[0]] = {
            "control": control, "s": statements[int(index) - 1], "n": holders[0] + 1, "label": label, "words": words,
        }
    mistakes += [f"{file}: {key}: is missing" for key in ("organization", "style", "english", "controls") if not settings.get(key)]
    mistakes += [f"{file}: there is no control {c}" for c in settings.get("controls", "").split() if c not in ex.STATEMENTS]
    if mistakes:
        raise SystemExit("\n".join(mistakes))
    return settings, [labels[key] for key in sorted(labels)]


def write_lines(file, lines):
    with open(file, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("folder", nargs="+", help="folder with Markdown documents and labels.txt; its name becomes the pack's")
    p.add_argument("--author", required=True, help="such as w41; the labeler is l41")
    p.add_argument("--service", default="service", help="the program")
    p.add_argument("--out", default=os.path.join(here, "data", "packs"))
    p.add_argument("--catalog", default=os.path.join(here, "../../engine/catalog/starter/data"))
    options = p.parse_args()
    ex.read_catalog(options.catalog)
    for folder in options.folder:
        passages = read_passages(options.service, folder)
        settings, labels = read_labels(os.path.join(folder, "labels.txt"), passages)
        controls = sorted(set(settings["controls"].split()))
        labeler = "l" + options.author.lstrip("w")
        pack = os.path.join(options.out, f"{options.author}-{settings['style']}-{os.path.basename(os.path.abspath(folder))}")
        os.makedirs(pack)
        for file in sorted({p["file"] for p in passages}):
            shutil.copy(os.path.join(folder, file), pack)
        write_lines(os.path.join(pack, "pack.json"), [{
            "organization": settings["organization"], "style": settings["style"], "author": options.author, "english": settings["english"],
            "domains": sorted({c.split("-")[0] for c in controls}), "controls": controls,
        }])
        write_lines(os.path.join(pack, "passages.jsonl"), passages)
        write_lines(os.path.join(pack, f"labels-{labeler}.jsonl"),
                    [{"labeler": labeler, "statements": sum(len(ex.STATEMENTS[c]) for c in controls)}] + labels)
        print(f"{pack}: {len(passages)} passages, {len(labels)} labels")


if __name__ == "__main__":
    main()
