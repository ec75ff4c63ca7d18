"""Reads packs and pairs, splits them, and chooses the silent passages worth training on."""

import glob
import json
import math
import os
import random
import re
import zlib
from collections import Counter
from dataclasses import dataclass, replace

from wordpiece import context

FIRST_TEST_STYLES = {"audit-report", "tickets", "council-minutes"}  # those of the first four trainings' figures
TEST_STYLES = FIRST_TEST_STYLES | {"deposition", "standup-notes", "governance-statement"}
DEVELOPMENT_STYLES = {"slides"}
CANDIDATES = 20  # passages per statement, as many as the product's search returns


@dataclass(frozen=True)
class Example:
    group: str  # pairs resampled together: those of an organization's statement, or the variants of one sentence
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
    weight: float = 1.0  # how many pairs it represents in tests, which leave out most silent ones


def lines(file):
    with open(file, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as e:
                    raise SystemExit(f"{file}:{number}: {e}")


STOP = set("a an and are as at be by for from has have in is it its of on or that the their this to was were which with".split())
STOP |= {"who", "all", "any", "each"}


def stems(text):
    return [re.sub(r"(ations?|ings?|ed|es|s|e|y|ies)$", "", w) for w in re.findall(r"[a-z0-9]+", text.lower()) if w not in STOP]


class Overlap:
    """Scores passages by the rare words that they share with a statement."""

    def __init__(self, texts):
        self.bags = [Counter(stems(t)) for t in texts]
        seen = Counter(w for b in self.bags for w in b)
        self.weight = {w: math.log(1 + len(texts) / n) for w, n in seen.items()}

    def scores(self, statement):
        wanted = set(stems(statement))
        return [sum(self.weight[w] * b[w] * 2.2 / (b[w] + 1.2) for w in wanted if w in b) for b in self.bags]


def read_pack(folder):
    """Returns all statements of a labeled organization with the passages that share the most words, and every labeled passage."""
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
                if " ".join(e.get("words", "").split()) not in " ".join(passages[by_number[e["n"]]]["text"].split()):
                    raise SystemExit(f"{file}: passage {e['n']} doesn't hold {e['words']!r}")
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
    """Returns the statement after its control's title, without which "Roles are assigned." would say too little."""
    return f"{TITLES[control]}: {statement}" if control in TITLES else statement


def read_catalog(folder):
    """Returns the titles and statements of the controls in the starter catalog."""
    for file in sorted(glob.glob(os.path.join(folder, "*.yaml"))):
        control, listed = None, False
        with open(file, encoding="utf-8") as f:
            for line in f:
                if line.startswith("  - code: "):
                    control = line[10:].strip()
                elif line.startswith("    title: ") and control:
                    TITLES[control] = line[11:].strip().strip("\"'")
                elif line.startswith("      - ") and listed:
                    STATEMENTS.setdefault(control, []).append(line[8:].strip().strip("\"'"))
                else:
                    listed = line.startswith("    objectives:")


def read(data):
    out = []
    for folder in sorted(glob.glob(os.path.join(data, "packs", "*", ""))):
        out += read_pack(folder.rstrip("/"))
    for file in sorted(glob.glob(os.path.join(data, "pairs", "*.jsonl"))):
        out += read_pairs(file)
    return out


def share(text, parts):
    return zlib.crc32(text.encode()) % parts


def split(examples, without_author=""):
    """training, development, test of unseen styles, and test of unseen pairs. Of other styles, one organization in ten is for development;
    one control in ten is unseen in training."""
    training, development, styles, pairs = [], [], [], []
    for e in examples:
        if e.style in TEST_STYLES:
            styles.append(e)
        elif e.style in DEVELOPMENT_STYLES or e.style != "pairs" and share(e.group.split("/")[0], 10) == 3:
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


WINDOW, REPEATED = 320, 160  # characters


def windows(text, size=WINDOW):
    """Splits a passage into runs of sentences of up to size characters, which begin with the last sentence of the run before if that is
    short: a list's introduction, or what "it" refers to. The network reads one at a time. The runner splits in the same way."""
    parts = [p for p in re.split(r"(?<=[.!?;:])[ \t]+|\n+", text.strip()) if p.strip()]
    out, current = [], []
    for p in parts:
        if current and sum(map(len, current)) + len(p) > size:
            out.append(" ".join(current))
            current = current[-1:] if len(current) > 1 and len(current[-1]) <= REPEATED else []
        current.append(p)
    if current:
        out.append(" ".join(current))
    return out or [""]


def common(a, b):
    return len(set(stems(a)) & set(stems(b)))


def with_words(e, size=WINDOW):
    """Returns the window that shows the label."""
    words = " ".join(e.words.split())
    choices = windows(e.passage, size)
    for w in choices:
        if words in " ".join(w.split()):
            return w
    return max(choices, key=lambda w: common(w, words))


def training_set(examples, negatives, seed, passes=1, hardest=None):
    """For each label the window that shows it, a longer run of sentences around it, and the words on their own; and for each statement some
    windows of silent passages, half of them among those that share most words. With hardest, twice as many windows are drawn, and hardest
    chooses. Each pass draws other windows; a control's title and the headings are left out at times."""
    chance = random.Random(f"{seed} {passes}")
    out, silent = [], {}
    for e in examples:
        if e.style != "pairs" and e.label == "silent":
            silent.setdefault(e.group, []).append(e)
        elif e.label == "silent":
            out.append(e)
        else:
            window = with_words(e)
            out.append(replace(e, passage=window))
            if len(e.words.split()) >= 4 and len(e.words) < len(window) - 20:
                out.append(replace(e, passage=e.words))
            if len(e.passage) > WINDOW:
                out.append(replace(e, passage=with_words(e, 2 * WINDOW)))
    drawn = []
    for group in sorted(silent):
        found = [replace(e, passage=w) for e in silent[group] for w in windows(e.passage, chance.choice((WINDOW, WINDOW, 2 * WINDOW)))]
        scores = Overlap([e.context + e.passage for e in found]).scores(found[0].statement)
        ranked = sorted(range(len(found)), key=lambda i: (-scores[i], i))
        n = negatives * (2 if hardest else 1)
        hard, rest = ranked[:3 * n], ranked[3 * n:]
        chosen = chance.sample(hard, min(len(hard), (n + 1) // 2)) + chance.sample(rest, min(len(rest), n // 2))
        drawn += [found[i] for i in chosen]
    if hardest:
        drawn = hardest(drawn)
    for e in drawn:
        parts = re.split(r"(?<=[.!?;])\s+", e.passage)
        out.append(replace(e, passage=chance.choice(parts)) if chance.random() < 0.15 else e)
    return [replace(e, context="") if chance.random() < 0.1 else e for e in out]


def drawn(examples, pair_share, seed, passes):
    """Returns all examples of packs and a share of the pairs, other groups of them in each pass."""
    return [e for e in examples if e.style != "pairs" or share(f"{seed} {passes} {e.group}", 1000) < 1000 * pair_share]


def part_of_pass(examples, parts, passes):
    """Returns the examples of one in so many groups. As many passes in a row use each group once."""
    return [e for e in examples if share(f"part {e.group}", parts) == passes % parts]


def tested(examples, one_in):
    """Returns all labeled pairs, and a sample of the silent ones that is weighted to represent all of them."""
    out = []
    for e in examples:
        if e.style == "pairs" or e.label != "silent":
            out.append(e)
        elif share(e.group + e.passage, one_in) == 0:
            out.append(replace(e, weight=float(one_in)))
    return out


def groups_fraction(examples, fraction):
    """Returns the examples of a fixed share of the groups. The shares are nested: a quarter is part of the half."""
    return [e for e in examples if share("curve " + e.group, 1000) < 1000 * fraction]
