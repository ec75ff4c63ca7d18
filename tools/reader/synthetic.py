"""Pairs made by rules from the statements themselves, for a first stage of training: they teach the task before real sentences refine
it. Words are exchanged for others of the same group in engine/judge/criteria/wordings."""

import glob
import os
import random
import re

import examples as ex

ASSERTED = [
    "{S}", "{S}", "{S}", "{S} This is checked every {month}.", "We make sure that {s}", "In practice, {s}", "It is our policy that {s}",
    "| {P} | in place | {name} |", "- {P}: done, {month}", "All staff follow this rule: {s}", "{must}", "{must}",
    "As confirmed in {month}, {s}",
]
DENIED = [
    "{not}", "{not}", "{not}", "{not} Nobody owns the topic.", "We found that {not_}", "| {P} | missing | {name} |", "- {P}: not done",
    "Nobody makes sure that {s}", "The following is not the case: {s}", "At present {not_}", "Finding: {not}", "We stopped this: {s}",
]
PLANNED = [
    "{will}", "{will}", "From {month} on, {will_}", "It is planned that {s}", "Proposal: {s}", "| {P} | planned | {name} | {month} |",
    "Next year {will_}", "{name} is preparing this, it is not yet in force: {s}", "To do: {s}",
    "The project starts in {month}. After that, {will_}",
]
PARTLY = [
    "In some departments, {s}", "Only at the head office: {s}", "{P}, but this is not recorded.", "{P}, except for older systems.",
    "For the payroll system alone, {s}", "{half}", "{half}", "{half}", "{half}", "{weaker}", "{weaker}", "{weaker}",
]
OTHERS = [
    "Our supplier states that {s}", "The standard asks that {s}", "Is it true that {q}?", "Example from a course: at Contoso, {s}",
    "Many companies say: {s}", "A customer asked us whether {q}.", "This heading is about the topic: {p}", "Template: {s} [yes/no]",
    "If we were a bank, {s}", "Until 2019 the rule was: {s}", "The law defines what it means that {s}", "Vacancy: you know how {p}",
]
MONTHS = "January February March April May June July August September October November December".split()
NAMES = "A. Osei|M. Lindqvist|the IT manager|Priya|J. Novak|the security team|Facilities|Tom".split("|")


def read_groups(folder):
    """Returns, for each control and statement, the groups of words that mean the same in that statement."""
    out = {}
    for file in sorted(glob.glob(os.path.join(folder, "wordings", "*.txt"))):
        with open(file, encoding="utf-8") as f:
            for line in f:
                if not line.startswith("#") and line.count(" | ") >= 2:
                    code, _, *rest = line.strip().split(" | ")
                    out[code] = [[[w.strip() for w in g.split(",")] for g in part.split("&")] for part in rest]
    return out


def read_criteria(folder):
    for file in sorted(glob.glob(os.path.join(folder, "*.txt"))):
        with open(file, encoding="utf-8") as f:
            for line in f:
                if not line.startswith("#") and line.count(" | ") >= 2:
                    code, title, *statements = line.strip().split(" | ")
                    if code not in ex.STATEMENTS:
                        ex.STATEMENTS[code], ex.TITLES[code] = [s.strip() for s in statements], title


def reworded(statement, groups, chance):
    for group in groups:
        present = [w for w in group if len(w) > 3 and re.search(r"\b" + re.escape(w), statement, re.I)]
        if present and chance.random() < 0.6:
            old, new = max(present, key=len), chance.choice(group)
            statement = re.sub(r"\b" + re.escape(old), new, statement, count=1, flags=re.I)
    return statement[0].upper() + statement[1:]


VERB = re.compile(r"\b(is|are|has|have|can|must)\b(?! not)")


def forms(s, chance):
    """Returns the parts of a sentence that the templates can use."""
    lower = s[0].lower() + s[1:] if not s[:2].isupper() else s
    plain = s.rstrip(".")
    verb = VERB.search(s)

    def at_verb(by):
        return VERB.sub(lambda m: by(m.group(1)), s, count=1) if verb else None

    negated = at_verb(lambda v: v + chance.choice([" not", " not yet", " never"]))
    will = at_verb(lambda v: {"is": "will be", "are": "will be", "can": "will be able to", "must": "will have to"}.get(v, "will have"))
    must = at_verb(lambda v: {"is": "must be", "are": "must be", "has": "must have", "have": "must have"}.get(v, v))
    question = at_verb(lambda v: v) or s
    half = re.sub(r",? (and|or) [^.;]*\.$", ".", s)
    if half == s:
        half = re.sub(r"\w+( and | or )(?=\w)", "", s, count=1)
    weaker = s
    for old, new in (("every year", "every three years"), ("annually", "every few years"), ("yearly", "once, in 2019"),
                     ("regularly", "now and then"),
                     ("All ", "Some "), ("all ", "some "), ("Each ", "Most of the time, each "), ("each ", "nearly each "),
                     ("every ", "nearly every "), ("approved", "discussed"), ("documented", "known"), ("reviewed", "written")):
        if old in s:
            weaker = s.replace(old, new, 1)
            break
    return {
        "S": s, "s": lower, "P": plain, "p": plain[0].lower() + plain[1:], "q": question.rstrip(".")[0].lower() + question.rstrip(".")[1:],
        "not": negated or "It is not the case that " + lower, "will": will or "In future, " + lower, "must": must or s,
        "half": half if half != s else None, "weaker": weaker if weaker != s else None,
        "month": chance.choice(MONTHS), "name": chance.choice(NAMES),
    }


def fill(templates, s, chance):
    for _ in range(8):
        template, values = chance.choice(templates), forms(s, chance)
        values["not_"] = values["not"][0].lower() + values["not"][1:]
        values["will_"] = values["will"][0].lower() + values["will"][1:]
        if not any(values[k] is None for k in re.findall(r"{(\w+)}", template)):
            return template.format(**values)
    return "In part, " + s[0].lower() + s[1:]


LABELED = [("states", ASSERTED), ("part", PARTLY), ("plans", PLANNED), ("contradicts", DENIED), ("silent", OTHERS)]


def pairs(criteria, seed):
    """Returns six pairs per statement: one for each label, and one whose passage is about another statement of the control."""
    read_criteria(criteria)
    groups, chance, out = read_groups(criteria), random.Random(seed), []
    everything = [(c, i, s) for c in sorted(ex.STATEMENTS) for i, s in enumerate(ex.STATEMENTS[c])]
    for control, i, statement in everything:
        if ex.share(control, 10) == 0:
            continue  # held out, as in the real pairs
        own = groups.get(control, [])
        swap = own[i] if i < len(own) else []
        siblings = [s for s in ex.STATEMENTS[control] if s != statement]
        chosen = [(label, fill(templates, reworded(statement, swap, chance), chance)) for label, templates in LABELED]
        other = chance.choice(siblings) if siblings and chance.random() < 0.7 else chance.choice(everything)[2]
        chosen.append(("silent", fill(chance.choice([ASSERTED, ASSERTED, DENIED, PLANNED]), other, chance)))
        for label, sentence in chosen:
            around = []
            for _ in range(chance.choice([0, 0, 1, 1, 2])):
                other = chance.choice(everything)
                if other[0] != control:
                    around.append(fill(chance.choice([ASSERTED, ASSERTED, PARTLY, DENIED, PLANNED]), other[2], chance))
            around.insert(chance.randint(0, len(around)), sentence)
            title = ex.TITLES[control].capitalize()
            head = chance.choice(["", "", "Handbook — ", f"{title} — ", "Notes — Open points — ", "Security policy — "])
            out.append(ex.Example(f"made/{control}/{i}", "made", "rules", control, "made", ex.topical(control, statement), head,
                                  " ".join(around), label, sentence))
    return out
