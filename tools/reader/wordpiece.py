"""Uncased BERT tokenizer. The runner in Go implements the same rules, and its test compares the two."""

import re
import unicodedata

MAX_WORD = 100  # runes; longer words become [UNK], as in BERT
PAD, UNK, CLS, SEP = 0, 100, 101, 102


def is_ideograph(c):
    n = ord(c)
    return (0x4E00 <= n <= 0x9FFF or 0x3400 <= n <= 0x4DBF or 0x20000 <= n <= 0x2A6DF or 0x2A700 <= n <= 0x2B81F
            or 0x2B820 <= n <= 0x2CEAF or 0xF900 <= n <= 0xFAFF or 0x2F800 <= n <= 0x2FA1F)


def is_punctuation(c):
    n = ord(c)
    return 33 <= n <= 47 or 58 <= n <= 64 or 91 <= n <= 96 or 123 <= n <= 126 or unicodedata.category(c).startswith("P")


def words(text):
    """Splits text into lower-case words without accents; each punctuation mark and ideograph is a word."""
    out = []
    for c in text:
        category = unicodedata.category(c)
        if c in "\t\n\r" or category == "Zs":
            out.append(" ")
        elif c == "\ufffd" or category in ("Cc", "Cf", "Co", "Cs"):
            continue
        elif is_ideograph(c):
            out.append(" " + c + " ")
        else:
            out.append(c.lower())
    plain = (c for c in unicodedata.normalize("NFD", "".join(out)) if unicodedata.category(c) != "Mn")
    spaced = "".join(" " + c + " " if is_punctuation(c) else c for c in plain)
    return [w for w in re.split("[ \u2028\u2029]+", spaced) if w]


class WordPiece:
    def __init__(self, vocab_file):
        with open(vocab_file, encoding="utf-8") as f:
            self.pieces = f.read().split("\n")[:30522]
        self.ids = {p: i for i, p in enumerate(self.pieces)}
        self.cache = {}

    def word(self, w):
        found = self.cache.get(w)
        if found is None:
            found = self.cache[w] = self.split(w)
        return found

    def split(self, w):
        if len(w) > MAX_WORD:
            return [UNK]
        out, start = [], 0
        while start < len(w):
            end = len(w)
            while end > start:
                piece = ("##" if start else "") + w[start:end]
                if piece in self.ids:
                    break
                end -= 1
            if end == start:
                return [UNK]
            out.append(self.ids[piece])
            start = end
        return out

    def encode(self, text):
        return [i for w in words(text) for i in self.word(w)]


STATEMENT, CONTEXT, WHOLE = 64, 32, 192  # maximum numbers of word pieces


def pair(tokenizer, statement, context, passage):
    """Returns [CLS] statement [SEP] context passage [SEP] and the length of the first segment. Long parts are truncated."""
    first = [CLS] + tokenizer.encode(statement)[:STATEMENT] + [SEP]
    second = tokenizer.encode(context)[:CONTEXT] + tokenizer.encode(passage)
    return first + second[:WHOLE - len(first) - 1] + [SEP], len(first)


def context(title, headings):
    """Returns the document's title and the headings above the passage, without duplicates."""
    parts = []
    for p in [title, *headings]:
        p = p.strip()
        if p and (not parts or parts[-1] != p):
            parts.append(p)
    return " — ".join(parts) + " — " if parts else ""
