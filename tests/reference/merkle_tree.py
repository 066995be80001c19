#!/usr/bin/env python3
"""Test vectors of the tree of docs/record_format.md, for any program that checks its proofs.

usage: merkle_tree.py [FILE]      default: ../vectors/merkle_tree.json

Everything is computed from the recursive definitions of RFC 6962, section 2.1, with hashlib. Line number i is i in
ASCII digits. Refused are proofs and heads in which one thing was changed.
"""

import functools
import hashlib
import json
import os
import sys


def sha256(data):
    return hashlib.sha256(data).digest()


@functools.lru_cache(maxsize=None)
def mth(first, last):
    """MTH(D[first:last])"""
    if first == last:
        return sha256(b"")
    if last - first == 1:
        return sha256(b"\0" + str(first).encode())
    k = split(last - first)
    return sha256(b"\1" + mth(first, first + k) + mth(first + k, last))


def split(n):
    """The largest power of two smaller than n."""
    return 1 << ((n - 1).bit_length() - 1)


def path(m, first, last):
    """PATH(m, D[first:last])"""
    n = last - first
    if n == 1:
        return []
    k = split(n)
    if m < k:
        return path(m, first, first + k) + [mth(first + k, last)]
    return path(m - k, first + k, last) + [mth(first, first + k)]


def subproof(m, first, last, whole):
    """SUBPROOF(m, D[first:last], whole)"""
    n = last - first
    if m == n:
        return [] if whole else [mth(first, last)]
    k = split(n)
    if m <= k:
        return subproof(m, first, first + k, whole) + [mth(first + k, last)]
    return subproof(m - k, first + k, last, False) + [mth(first, first + k)]


def proof(m, n):
    return [] if m == 0 else subproof(m, 0, n, True)


def head(size, root=None):
    return {"size": size, "root": (root or mth(0, size)).hex()}


def inclusion(name, index, tree, hashes, leaf=None, accepted=False):
    leaf = mth(index, index + 1) if leaf is None else leaf
    return {"name": name, "accepted": accepted, "leaf": leaf.hex(), "index": index, "tree": tree,
            "proof": [h.hex() for h in hashes]}


def consistency(name, older, newer, hashes, accepted=False):
    return {"name": name, "accepted": accepted, "older": older, "newer": newer, "proof": [h.hex() for h in hashes]}


def flipped(data):
    return bytes([data[0] ^ 1]) + data[1:]


def changes(hashes):
    """What is no longer the proof, and how it came about."""
    for i, one in enumerate(hashes):
        yield f"a bit of hash {i} flipped", hashes[:i] + [flipped(one)] + hashes[i + 1:]
        yield f"hash {i} left out", hashes[:i] + hashes[i + 1:]
        yield f"hash {i} twice", hashes[:i + 1] + hashes[i:]
    if len(hashes) > 1:
        yield "in reverse", hashes[::-1]
    yield "a hash more", hashes + [sha256(b"")]
    yield "a hash before", [sha256(b"")] + hashes


def inclusions():
    for index, size in [(0, 1), (0, 2), (1, 2), (2, 3), (4, 5), (3, 7), (6, 7), (5, 8), (8, 9), (0, 256), (255, 256),
                        (256, 257), (17, 511), (65_535, 65_536), (65_536, 65_537), (300, 65_537)]:
        yield inclusion(f"{index} of {size}", index, head(size), path(index, 0, size), accepted=True)
    right = path(3, 0, 7)
    for how, changed in changes(right):
        yield inclusion("3 of 7, " + how, 3, head(7), changed)
    leaf = mth(3, 4)
    yield inclusion("3 of 7, for index 2", 2, head(7), right, leaf)
    yield inclusion("3 of 7, for index 7", 7, head(7), right, leaf)
    yield inclusion("3 of 7, for index 11", 11, head(7), right, leaf)
    yield inclusion("3 of 7, in the tree of 8", 3, head(8), right)
    yield inclusion("3 of 7, as if of 16", 3, head(16, mth(0, 7)), right)
    yield inclusion("3 of 7, as if of 4", 3, head(4, mth(0, 7)), right)
    yield inclusion("3 of 7, another root", 3, head(7, flipped(mth(0, 7))), right)
    yield inclusion("3 of 7, another leaf", 3, head(7), right, mth(4, 5))
    yield inclusion("a node as leaf", 0, head(2, mth(0, 4)), [mth(2, 4)], sha256(b"\0" + mth(0, 1) + mth(1, 2)))
    yield inclusion("0 of 0", 0, head(0), [], sha256(b""))


def consistencies():
    for older, newer in [(0, 0), (0, 1), (0, 7), (1, 1), (1, 2), (1, 8), (2, 3), (3, 4), (4, 7), (3, 7), (6, 8), (7, 7),
                         (255, 256), (256, 257), (257, 511), (256, 65_536), (65_535, 65_537), (40_000, 65_537)]:
        yield consistency(f"{older} to {newer}", head(older), head(newer), proof(older, newer), True)
    for older, newer in [(3, 7), (4, 7)]:
        right = proof(older, newer)
        name = f"{older} to {newer}, "
        for how, changed in changes(right):
            yield consistency(name + how, head(older), head(newer), changed)
        yield consistency(name + "backwards", head(newer), head(older), right)
        yield consistency(name + "another older root", head(older, flipped(mth(0, older))), head(newer), right)
        yield consistency(name + "another newer root", head(older), head(newer, flipped(mth(0, newer))), right)
        yield consistency(name + "as if to 16", head(older), head(16, mth(0, newer)), right)
        yield consistency(name + "nothing", head(older), head(newer), [])
    yield consistency("0 to 7, with a hash", head(0), head(7), [mth(0, 7)])
    yield consistency("0 to 7, a root of nothing that is another", head(0, mth(0, 1)), head(7), [])
    yield consistency("7 to 7, with a hash", head(7), head(7), [mth(0, 7)])
    yield consistency("7 to 7, another root", head(7), head(7, flipped(mth(0, 7))), [])


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "vectors", "merkle_tree.json")
    sizes = [*range(0, 20), 255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537]
    vectors = {"roots": [head(size) for size in sizes], "inclusion": list(inclusions()),
               "consistency": list(consistencies())}
    with open(target, "w", encoding="ascii") as out:
        out.write("{\n")
        for i, (name, rows) in enumerate(vectors.items()):
            out.write(f' "{name}": [\n  ' + ",\n  ".join(json.dumps(row) for row in rows) + "\n ]")
            out.write(",\n" if i + 1 < len(vectors) else "\n")
        out.write("}\n")


main()
