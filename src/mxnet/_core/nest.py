"""Nested lists flattened and put together again, for functions that take and return lists of arrays."""

from typing import Any

Format = Any  # 0 for one item, n for n outputs of one item, a list of formats for a list


def flatten(value: Any, kind: type, word: str, what: str) -> tuple[list[Any], Format]:
    """The items of a nested list, and the format that `regroup` needs to nest them again."""
    if isinstance(value, kind):
        count = len(value) if word == "Symbol" else 0
        return [value], count if count > 1 else 0
    assert isinstance(value, (list, tuple)), (  # the text prints arrays, which reads their values: only if it is needed
        f"{what} must be (nested) list of {word}, but got {value} of type {type(value)}"
    )
    flat: list[Any] = []
    formats: list[Format] = []
    for part in value:
        items, form = flatten(part, kind, word, what)
        flat += items
        formats.append(form)
    return flat, formats


def regroup(items: list[Any], form: Format) -> Any:
    """The items nested as `form` says."""
    nested, rest = _take(list(items), form)
    assert not rest
    return nested


def _take(items: list[Any], form: Format) -> tuple[Any, list[Any]]:
    if isinstance(form, int):
        return (items[0], items[1:]) if form == 0 else (items[:form], items[form:])
    nested = []
    for part in form:
        group, items = _take(items, part)
        nested.append(group)
    return nested, items
