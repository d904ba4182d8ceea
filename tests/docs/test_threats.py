"""The threat page promises nothing without a test: each reader and port names tests, and they exist."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ("docs/threats.md", "docs/zh/threats.md", "SECURITY.md", "docs/reliability.md")


def named(text):
    """Files and folders of tests that a text names; short names follow a longer one, or are of one folder only."""
    return re.findall(r"`((?:tests|tools)/[\w/.]+|test_\w+\.py)`", text)


def tables(page):
    """The rows of each table, as lists of cells."""
    found, rows = [], []
    for line in [*(ROOT / page).read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            found.append(rows[2:])
            rows = []
    return found


@pytest.mark.parametrize("page", PAGES)
def test_named_tests_exist(page):
    for name in named((ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / name).exists() or list((ROOT / "tests").rglob(name)), name


@pytest.mark.parametrize("page", PAGES[:2])
def test_each_reader_and_port_names_its_tests(page):
    promises, tests, ports = tables(page)
    covered = ", ".join(row[0] for row in tests)
    for row in promises:
        for reader in re.split(r", |、|，", row[0].partition(", given")[0].replace("程序给出的", "")):
            assert reader in covered, reader
    for row in tests:
        assert named(row[1]), row[0]
    without = [row[0] for row in ports if not named(row[3])]
    assert all("NCCL" in name for name in without), without


def test_both_languages_name_the_same_tests():
    first, second = ([[named(row[place]) for row in rows] for rows, place in zip(tables(page)[1:], (1, 3), strict=True)]
                     for page in PAGES[:2])  # fmt: skip
    assert first == second
