"""Turns what pydantic refused into sentences: file, key, value, what is expected, a likely slip.

Called by `controller.config.load`; pure.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAliasType, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from controller.config.text import key_text, looks_secret, value_text

SECRET_WORDS = frozenset(
    {"api_key", "github_token", "password", "private_key", "secret", "signing_key", "token"}
)
_PLAIN = {
    "string_type": 'expected text in quotation marks, such as "main"',
    "int_type": "expected a whole number without quotation marks",
    "float_type": "expected a number without quotation marks",
    "bool_type": "expected true or false",
    "tuple_type": 'expected a list, such as ["a", "b"]',
    "dict_type": "expected a table",
    "mapping_type": "expected a table",
    "model_type": "expected a table",
    "model_attributes_type": "expected a table",
    "finite_number": "expected a finite number",
    "missing": "is required",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "expected at least {}"),
    "greater_than": ("gt", "expected more than {}"),
    "less_than_equal": ("le", "expected at most {}"),
    "less_than": ("lt", "expected less than {}"),
    "too_short": ("min_length", "expected at least {} entries"),
    "too_long": ("max_length", "expected at most {} entries"),
}
_PATTERNS = {
    "effort": 'expected an effort such as "medium"',
    "model": 'expected the name of a model such as "gpt-5.6-luna"',
    "resource": 'expected KIND:NAME such as "chrome:main"',
    "user": "expected the name of a user of this machine",
}


def sentences(error: ValidationError, root: type[BaseModel]) -> tuple[str, ...]:
    """One line for each thing refused, without the file's name, in the order of the file's keys."""
    return tuple(_sentence(details, root) for details in error.errors(include_url=False))


def _sentence(details: ErrorDetails, root: type[BaseModel]) -> str:
    location, kind, value = details["loc"], details["type"], details["input"]
    key = key_text(tuple(part for part in location if part != "[key]"))
    if kind == "extra_forbidden":
        return f"{key}: unknown key{_advice(location, root)}"
    text = _expectation(details)
    if location and location[-1] == "[key]":
        return f"{key}: {text}"
    if kind == "missing" or value is None or isinstance(value, Mapping | BaseModel):
        return f"{key}: {text}" if key else text
    if isinstance(value, str) and looks_secret(value):
        text += "; secrets never stand in this file, their own files do"
    return f"{key} = {value_text(value)}: {text}"


def _expectation(details: ErrorDetails) -> str:
    kind, context, location = details["type"], details.get("ctx", {}), details["loc"]
    if kind == "value_error":
        return str(context.get("error", details["msg"]))
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _BOUNDS:
        name, text = _BOUNDS[kind]
        return text.format(context.get(name))
    if kind == "literal_error":
        return f"expected {context.get('expected')}"
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(str(location[-1]), f"expected text like {context.get('pattern')}")
    return f"expected something else: {details['msg']}"


def _advice(location: Sequence[int | str], root: type[BaseModel]) -> str:
    wrong = str(location[-1])
    if wrong.casefold() in SECRET_WORDS:
        return "; secrets never stand in this file: name their file (github.token_file, ...)"
    model = _model_at(root, location[:-1])
    known = list(model.model_fields) if model else []
    near = difflib.get_close_matches(wrong.casefold(), known, n=1, cutoff=0.6)
    if near:
        return f'; did you mean "{near[0]}"?'
    elsewhere = [place for name, place in _all_keys(root, ()) if name == wrong]
    if elsewhere:
        return f"; it belongs to {' or '.join(sorted(set(elsewhere))[:3])}"
    return f"; known here: {', '.join(sorted(known))}" if known else ""


def _inner(annotation: object) -> tuple[type[BaseModel] | None, str]:
    """The model that an annotation holds, and how its table is written: "", "[]" or "{}"."""
    if isinstance(annotation, TypeAliasType):
        return _inner(annotation.__value__)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, ""
    for argument in get_args(annotation):
        model, _ = _inner(argument)
        if model is not None:
            origin: Any = get_origin(annotation)
            if origin is tuple:
                return model, "[]"
            if isinstance(origin, type) and issubclass(origin, Mapping):
                return model, "{}"
            return _inner(argument)
    return None, ""


def _model_at(root: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel] | None:
    model: type[BaseModel] | None = root
    skip = False
    for part in location:
        if skip:
            skip = False
            continue
        if model is None or not isinstance(part, str) or part not in model.model_fields:
            return None
        model, shape = _inner(model.model_fields[part].annotation)
        skip = shape != ""
    return model


def _all_keys(model: type[BaseModel], prefix: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        inner, shape = _inner(field.annotation)
        place = ".".join(prefix)
        yield name, f"[{place}]" if place else "the top of the file"
        if inner is not None:
            step = {"": name, "[]": name, "{}": f'{name}."owner/repo"'}[shape]
            yield from _all_keys(inner, (*prefix, step))
