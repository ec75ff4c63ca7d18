"""Reads packs and pairs, splits them, and chooses the silent passages worth training on."""

import glob
import json
import math
import os
import random
import re
import zlib
from collections import Counter
from dataclasses import dataclass

from wordpiece import context

TEST_STYLES = {"audit-report", "tickets", "council-minutes"}
DEVELOPMENT_STYLES = {"slides"}
CANDIDATES = 20  # passages per statement, as many as the product's search brings
STATEMENTS_FILE = "statements.md"


@dataclass(frozen=True)
class Example:
    group: str  # what is resampled together: a statement of an organization, or the variants of one sentence
    style: str
    author: str
    control: str
    phenomenon: str
    statement: str
    context: str
    passage: str
    label: str
    words: str
    agreed: bool = True


def lines(file):
    with open(file, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as e:
                    raise SystemExit(f"{file}:{number}: {e}")


STOP = set("a an and are as at be by for from has have in is it its of on or that the their this to was were which with who all any each".split())


def stems(text):
    return [re.sub(r"(ations?|ings?|ed|es|s|e|y|ies)$", "", w) for w in re.findall(r"[a-z0-9]+", text.lower()) if w not in STOP]


class Overlap:
    """Scores passages by the rare words they share with a statement."""

    def __init__(self, texts):
        self.bags = [Counter(stems(t)) for t in texts]
        seen = Counter(w for b in self.bags for w in b)
        self.weight = {w: math.log(1 + len(texts) / n) for w, n in seen.items()}

    def scores(self, statement):
        wanted = set(stems(statement))
        return [sum(self.weight[w] * b[w] * 2.2 / (b[w] + 1.2) for w in wanted if w in b) for b in self.bags]


def read_pack(folder):
    """All statements of a labeled organization with the passages that share most words, and every labeled passage."""
    with open(os.path.join(folder, "pack.json"), encoding="utf-8") as f:
        pack = json.load(f)
    files = sorted(glob.glob(os.path.join(folder, "labels-*.jsonl")))
    if not files:
        return []
    org = os.path.basename(folder)
    passages = list(lines(os.path.join(folder, "passages.jsonl")))
    overlap = Overlap([" ".join(p["headings"]) + " " + p["text"] for p in passages])
    by_number = {p["n"]: i for i, p in enumerate(passages)}
    labels, labelers = {}, []
    for file in files:
        entries = list(lines(file))
        labelers.append(os.path.basename(file))
        for e in entries[1:]:
            if e["label"] != "silent" and e["n"] in by_number:
                labels.setdefault((e["control"], e["s"], by_number[e["n"]]), {})[labelers[-1]] = (e["label"], e.get("words", ""))
    statements = {(c, s) for c, s, _ in labels} | {(c, s) for c in pack["controls"] for s in STATEMENTS.get(c, [])}
    out = []
    for control, statement in sorted(statements):
        scores = overlap.scores(statement)
        ranked = sorted(range(len(passages)), key=lambda i: (-scores[i], i))
        chosen = ranked[:CANDIDATES] + [i for i in ranked[CANDIDATES:] if (control, statement, i) in labels]
        for i in chosen:
            given = labels.get((control, statement, i), {})
            votes = [given.get(name, ("silent", "")) for name in labelers]
            label, words = votes[0]
            p = passages[i]
            out.append(Example(f"{org}/{control}/{statement}", pack["style"], pack["author"], control, "pack", topical(control, statement),
                               context(p["title"], p["headings"]), p["text"], label, words,
                               agreed=all(v[0] == label for v in votes)))
    return out


def read_pairs(file):
    author = os.path.basename(file).split("-")[0]
    return [Example(e["group"], "pairs", author, e["control"], e["phenomenon"], topical(e["control"], e["statement"]),
                    context(e["title"], e["headings"]), e["passage"], e["label"], e.get("words", "")) for e in lines(file)]


STATEMENTS, TITLES = {}, {}


def topical(control, statement):
    """The statement after its control's title, without which "Roles are assigned." says too little."""
    return f"{TITLES[control]}: {statement}" if control in TITLES else statement


def read_statements(file):
    control = None
    with open(file, encoding="utf-8") as f:
        for line in f:
            if line.startswith("## "):
                control, title = line[3:].strip().split(" ", 1)
                TITLES[control] = title
            elif line.startswith("- ") and control:
                STATEMENTS.setdefault(control, []).append(line[2:].strip())


def read(data):
    if os.path.exists(os.path.join(data, STATEMENTS_FILE)):
        read_statements(os.path.join(data, STATEMENTS_FILE))
    out = []
    for folder in sorted(glob.glob(os.path.join(data, "packs", "*", ""))):
        out += read_pack(folder.rstrip("/"))
    for file in sorted(glob.glob(os.path.join(data, "pairs", "*.jsonl"))):
        out += read_pairs(file)
    return out


def share(text, parts):
    return zlib.crc32(text.encode()) % parts


def split(examples, without_author=""):
    """training, development, test of unseen styles, and test of unseen pairs. One control in ten is unseen in training."""
    training, development, styles, pairs = [], [], [], []
    for e in examples:
        if e.style in TEST_STYLES:
            styles.append(e)
        elif e.style in DEVELOPMENT_STYLES:
            development.append(e)
        elif e.style == "pairs" and share(e.group, 8) == 0:
            pairs.append(e)
        elif e.style == "pairs" and share(e.group, 8) == 1:
            development.append(e)
        elif e.agreed and not unseen_control(e) and e.author != without_author:
            training.append(e)
    return training, development, styles, pairs


def unseen_control(e):
    return e.control != "" and share(e.control, 10) == 0


def sentences(text):
    return [s.strip() for s in re.split(r"(?<=[.!?;:])\s+|\n+", text) if s.strip()]


def training_set(examples, negatives, seed):
    """The labeled pairs, for each statement some of its silent passages, and the labeled words on their own."""
    chance = random.Random(seed)
    out, silent = [], {}
    for e in examples:
        if e.style != "pairs" and e.label == "silent":
            silent.setdefault(e.group, []).append(e)
            continue
        out.append(e)
        if e.label != "silent" and len(e.words.split()) >= 4 and len(e.words) < len(e.passage) - 10:
            out.append(replaced(e, e.words))
    for group in sorted(silent):
        ranked = silent[group]  # by shared words, the hardest first
        chosen = ranked[:negatives // 2] + chance.sample(ranked[negatives // 2:], min(len(ranked[negatives // 2:]), negatives - negatives // 2))
        for e in chosen:
            out.append(replaced(e, chance.choice(sentences(e.passage) or [e.passage])) if chance.random() < 0.25 else e)
    return out


def replaced(e, passage):
    return Example(e.group, e.style, e.author, e.control, e.phenomenon, e.statement, e.context, passage, e.label, e.words, e.agreed)


def groups_fraction(examples, fraction):
    """The examples of a fixed share of the groups, nested: a quarter is part of the half."""
    return [e for e in examples if share("curve " + e.group, 1000) < 1000 * fraction]
