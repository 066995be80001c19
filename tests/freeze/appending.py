"""Writes lines into a ledger as docs/ledger_format.md says, for what no program writes yet."""

import hashlib
import os
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "verifier")]

import epsilog_verify as verifier  # noqa: E402

FEATURE = 14  # log.kind


def append(database, kind, row, record):
    """Adds the line of a record whose rows are there, and returns it as an export has it."""
    index, last_time = database.execute("SELECT log_size, last_time FROM meta").fetchone()
    blind = os.urandom(16)
    line = verifier.ENCODE({**record, "blind": blind.hex(), "index": index})
    database.execute("INSERT INTO log(line_index, kind, row, blind, leaf) VALUES(?, ?, ?, ?, ?)",
                     (index, kind, row, blind, verifier.leaf_hash(line.encode())))
    time = verifier.milliseconds(record["time"])
    assert time >= last_time
    database.execute("UPDATE meta SET log_size = ?, last_time = ?", (index + 1, time))
    return line


def announce(database, name, time):
    """Adds the line of a feature."""
    database.execute("INSERT INTO feature(number, name, at) SELECT features + 1, ?, ? FROM meta",
                     (name, verifier.milliseconds(time)))
    database.execute("UPDATE meta SET features = features + 1")
    number = database.execute("SELECT features FROM meta").fetchone()[0]
    return append(database, FEATURE, number, {"kind": "feature", "name": name, "time": time})


def insert(database, table, **columns):
    names = ", ".join(f'"{name}"' for name in columns)
    database.execute(f"INSERT INTO {table}({names}) VALUES({', '.join('?' * len(columns))})", tuple(columns.values()))


def copy_row(database, table, where, **changed):
    """Adds a row like another, but for the columns that are given."""
    cursor = database.execute(f"SELECT * FROM {table} WHERE {where}")
    names = [column[0] for column in cursor.description]
    insert(database, table, **{**dict(zip(names, cursor.fetchone())), **changed})


def checksum(*columns):
    """account.checksum (docs/ledger_format.md, "Checksums")."""
    text = b"".join(b"%d:%s," % (len(column), column) for column in (str(column).encode() for column in columns))
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big", signed=True)


