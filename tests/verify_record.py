#!/usr/bin/env python3
"""Verifies records of framegate, with nothing but Python's standard library: guard/RECORD.md in two pages.

    verify_record.py [--head [SEQ:]HASH] FILE...      a store (SQLite), or JSON lines; `-` is stdin

Prints for each file its head and the first broken row, and leaves with 1 when something is broken. Unlike
`framegate verify` it checks no signatures and leaves SQLite's own pages to SQLite.
"""
import base64
import hashlib
import json
import os
import re
import sqlite3
import sys
import urllib.parse

FORMAT, DEPTH_MAX, FIELDS_MAX, REMOVED_NAMES_MAX = 1, 64, 64, 16
SCHEMA = {
    "records": "CREATE TABLE records (seq INTEGER PRIMARY KEY, body TEXT NOT NULL, hash BLOB NOT NULL) STRICT",
    "texts": "CREATE TABLE texts (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL) STRICT",
    "contents": "CREATE TABLE contents (seq INTEGER NOT NULL, field TEXT NOT NULL, salt BLOB NOT NULL, bytes BLOB, "
    "text INTEGER, PRIMARY KEY (seq, field)) STRICT, WITHOUT ROWID",
    "contents_text": "CREATE INDEX contents_text ON contents (text) WHERE text IS NOT NULL",
}
OF_SQLITE = {
    "sqlite_autoindex_texts_1": "",
    "sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "sqlite_stat4": "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}
HEX = {size: re.compile("[0-9a-f]{%d}" % (2 * size)) for size in (16, 32, 64)}


def refuse(text):
    raise ValueError(f"a number that is no integer: {text}")


def integer(text):
    if text == "-0" or not -(2**63) <= int(text) < 2**64:
        refuse(text)
    return int(text)


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def canonical(text, depth_max=DEPTH_MAX):
    """The object in a text that is in the one spelling."""
    value = json.loads(text, parse_float=refuse, parse_constant=refuse, parse_int=integer)
    if not isinstance(value, dict) or depth(value) > depth_max:
        raise ValueError("no object, or too deep")
    if json.dumps(value, separators=(",", ":"), ensure_ascii=False) != text:
        raise ValueError("another spelling")
    return value


def count(body, key):
    """A member that is a number from 0 on; `True` is none."""
    return body[key] if type(body.get(key)) is int and body[key] >= 0 else None


def names(value, most):
    """A list of so many strings at most."""
    return isinstance(value, list) and len(value) <= most and all(isinstance(name, str) for name in value)


def unhex(text, size):
    return bytes.fromhex(text) if isinstance(text, str) and HEX[size].fullmatch(text) else None


def commitment(salt, field, content):
    name = field.encode()
    return hashlib.sha256(salt + len(name).to_bytes(8, "big") + name + content).digest()


class Check:
    def __init__(self):
        self.seq, self.hash, self.torn = 0, bytes(32), False
        self.faults, self.late, self.missing, self.removed = [], [], [], []
        self.used, self.heads, self.format, self.records = set(), {(0, bytes(32))}, None, 0

    def fault(self, place, what):
        self.faults.append(f"{place}: {what}")

    def stray(self, seq):
        if seq > self.seq:
            self.fault(f"record {self.seq + 1}", f"is missing; content of record {seq} is there")
            self.seq, self.torn = seq, True
        elif seq < 1:
            self.fault(f"record {seq}", "has content, but numbers begin with 1")

    def record(self, seq, body, digest, contents):
        """One row; contents: (field, salt, own bytes, text's number, text's hash, text's bytes)."""
        place, self.records = f"record {seq}", self.records + 1
        if seq < 1:
            return self.fault(place, "numbers begin with 1")
        if seq > self.seq + 1:
            self.torn = True
            self.fault(f"record {self.seq + 1}", f"is missing; the next one is record {seq}")
        if not isinstance(digest, bytes) or len(digest) != 32:
            self.seq, self.torn = seq, True
            return self.fault(place, "its hash has not 32 bytes")
        before, torn, self.seq, self.hash, self.torn = self.hash, self.torn, seq, digest, False
        if not torn and hashlib.sha256(before + (body or b"")).digest() != digest:
            self.fault(place, "its hash does not follow from its body and the record before")
        self.heads.add((seq, digest))
        try:
            members = canonical((body or b"").decode())
            self.members(place, seq, members, before)
        except (ValueError, TypeError, RecursionError) as why:
            return self.fault(place, f"its body is not in the one spelling: {why}")
        self.contents(seq, members, contents)

    def members(self, place, seq, body, before):
        hashes, dropped = body.get("x", {"": "0" * 64}), body.get("dropped", [""])
        if not isinstance(hashes, dict) or len(hashes) > FIELDS_MAX or not names(dropped, FIELDS_MAX):
            raise ValueError("x is no object of at most 64 hashes, or dropped no list of names")
        if list(body)[:3] != ["seq", "time", "kind"] or type(body["seq"]) is not int or body["seq"] < 0:
            raise ValueError("a body does not begin with seq, time and kind")
        if type(body["time"]) is not int or body["time"] >= 2**63 or not isinstance(body["kind"], str):
            raise ValueError("time is no number, or kind no string")
        if "x" in body and list(body)[-1] != "x" or not hashes or not all(unhex(h, 32) for h in hashes.values()):
            raise ValueError("x is not the last member, or not hashes")
        if not dropped or len(set(dropped)) < len(dropped) or "dropped" in body and set(dropped) - set(body.get("x", {})):
            raise ValueError("dropped is no list of names in x")
        if body["seq"] != seq:
            self.fault(place, f"its body says that it is record {body['seq']}")
        if (body["kind"] == "store") != (seq == 1):
            self.fault(place, "a `store` record stands first, and nowhere else")
        if seq == 1:
            self.format = count(body, "format")
        if body["kind"] == "store" and not -1 < (-1 if (has := count(body, "format")) is None else has) <= FORMAT:
            self.fault(place, "its format is newer than this program's, or none")
        if body["kind"] == "removed":
            first, last, lists = count(body, "from"), count(body, "to"), [body.get("fields"), body.get("except")]
            is_read = None not in (first, last) and all(names(one, REMOVED_NAMES_MAX) for one in lists)
            if is_read and 1 <= first <= last < body["seq"]:
                self.removed.append((first, last, *lists))
            else:
                self.fault(place, "it does not say what was removed before it")
        if body["kind"] == "checkpoint":
            if not (unhex(body.get("key"), 32) and unhex(body.get("signature"), 64)):
                self.fault(place, "it has no signature that can be read")
            elif unhex(body.get("signs"), 32) != before:
                self.fault(place, "it signs another hash than that of the record before")

    def contents(self, seq, body, contents):
        hashes, dropped = body.get("x", {}), body.get("dropped", [])
        for field, salt, own, text, text_hash, text_bytes in contents:
            if text is not None:
                self.used.add(text)
            content = text_bytes if own is None else own
            place = f"record {seq}, content {field}"
            if field not in hashes or field in dropped:
                self.fault(place, "its record does not commit to it, or says that it was never kept")
            elif not isinstance(salt, bytes) or len(salt) != 16:
                self.fault(place, "its salt has not 16 bytes")
            elif content is None or (own is not None and text is not None):
                self.fault(place, "it has no bytes, or two of them")
            elif commitment(salt, field, content).hex() != hashes[field]:
                if text is None or hashlib.sha256(content).digest() == text_hash:  # else the text is named
                    self.fault(place, "it is not what its record commits to")
        there = {content[0] for content in contents} | set(dropped)
        self.missing += [(seq, field, body["kind"]) for field in hashes if field not in there]

    def text(self, number, digest, content):
        if hashlib.sha256(content or b"").digest() != digest:
            self.late.append(f"text {number}: its hash is not that of its bytes")
        elif number not in self.used:
            self.late.append(f"text {number}: no content points to it")

    def end(self, head):
        for seq, field, kind in sorted(self.missing):
            covers = lambda a, b, names, but: a <= seq <= b and (not names or field in names) and kind not in but
            if not any(covers(*removed) for removed in self.removed):
                self.fault(f"record {seq}, content {field}", "is missing, and no `removed` record says so")
        if not self.records and not self.faults + self.late:
            self.late.append("the file: empty: no record")
        if head and not any(head in (digest.hex(), f"{seq}:{digest.hex()}") for seq, digest in self.heads):
            self.late.append("the file: the head that you know is not in it: its end was cut, or it is another store")
        return self.faults + self.late


def octets(value, otherwise=None):
    return value if isinstance(value, bytes) else otherwise


def read_store(path, check):
    with sqlite3.connect(f"file:{urllib.parse.quote(path)}?mode=ro", uri=True) as db:
        db.text_factory = bytes
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("BEGIN")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if db.execute("PRAGMA application_id").fetchone()[0] != 0x46726D67:
            raise ValueError("it is some other program's database")
        stray = db.execute("""SELECT contents.seq, field, salt, contents.bytes, text, texts.hash, texts.bytes FROM contents
                              LEFT JOIN texts ON texts.id = text ORDER BY contents.seq, field""")
        ahead = stray.fetchone()
        for seq, body, digest in db.execute("SELECT seq, body, hash FROM records ORDER BY seq"):
            contents = []
            while ahead and ahead[0] <= seq:
                if ahead[0] < seq:
                    check.stray(ahead[0])
                else:
                    field, salt, own, text, digest_of_text, shared = ahead[1:]
                    own, shared = octets(own), octets(shared)
                    contents.append((octets(field, b"").decode(errors="replace"), salt, own, text, digest_of_text, shared))
                ahead = stray.fetchone()
            check.record(seq, octets(body, b""), digest, contents)
        while ahead:
            check.stray(ahead[0])
            ahead = stray.fetchone()
        for row in db.execute("SELECT id, hash, bytes FROM texts ORDER BY id"):
            check.text(row[0], row[1], octets(row[2]))


        schema = db.execute("SELECT CAST(name AS TEXT), CAST(coalesce(sql, '') AS TEXT) FROM sqlite_schema")
        found = [(name.decode(errors="replace"), sql.decode(errors="replace")) for name, sql in schema]
        if check.format in (None, *range(FORMAT + 1)) or version <= FORMAT:
            if {*found} - {*OF_SQLITE.items()} != {*SCHEMA.items()}:
                check.late.append("the file: its tables, indexes, triggers or views are not those of a record")
        if check.format is not None and check.format != version:
            check.late.append(f"the file: its user_version is {version}, its first record's format {check.format}")


def read_lines(lines, check):
    for line in filter(None, (line.removesuffix(b"\n") for line in lines)):
        row = canonical(line.decode(), DEPTH_MAX + 1)
        if ["seq", "hash", "body", "contents"][: max(3, len(row))] != list(row):
            raise ValueError("not seq, hash, body and contents")
        if type(row["seq"]) is not int or row["seq"] >= 2**63:
            raise ValueError("seq is no number")
        body = json.dumps(row["body"], separators=(",", ":"), ensure_ascii=False).encode()
        contents = []
        for field, kept in row.get("contents", {}).items():
            if list(kept) not in (["salt", "text"], ["salt", "base64"]):
                raise ValueError("not salt and text, or salt and base64")
            own = kept["text"].encode() if "text" in kept else base64.b64decode(kept["base64"], validate=True)
            if "base64" in kept and base64.b64encode(own).decode() != kept["base64"]:
                raise ValueError("base64 in another spelling")
            contents.append((field, unhex(kept["salt"], 16), own, None, None, None))
        check.record(row["seq"], body, unhex(row["hash"], 32), contents)


def verify(path, head):
    check = Check()
    try:
        if path != "-" and open(path, "rb").read(16) == b"SQLite format 3\0":
            read_store(path, check)
        else:
            read_lines(sys.stdin.buffer if path == "-" else open(path, "rb"), check)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, sqlite3.Error) as why:
        check.fault(f"record {check.seq + 1}", f"cannot be read: {why}")
        check.missing = []
    faults = check.end(head)
    print(f"{os.path.basename(path)}: head {check.seq}:{check.hash.hex()}")
    print(f"{os.path.basename(path)}: {faults[0] if faults else 'whole'}")
    return not faults


def main(arguments):
    head = arguments[1] if arguments[:1] == ["--head"] else None
    files = arguments[2:] if head else arguments
    return 0 if all([verify(path, head) for path in files]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
