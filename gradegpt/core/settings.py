"""YAML and ``key=value`` -> frozen settings. Unknown keys are rejected with a suggestion.

YAML is read as plain text scalars and typed by the settings class alone: PyYAML by itself reads
``2e-4`` as text and ``no`` as False.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from gradegpt.core.errors import MissingError, SettingsError
from gradegpt.core.mistakes import Mistake, mistakes, suggest
from gradegpt.core.shipped import command_of, found, recipes

S = TypeVar("S", bound="Settings")
LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Makes strings only; libyaml, where PyYAML has it, takes a tenth of the time."""


class Settings(BaseModel):
    """Base of every settings class: frozen, unknown keys rejected."""

    command: ClassVar[str] = ""
    """The command that the settings are for, such as ``eval.calibrate``."""
    merged: ClassVar[tuple[str, ...]] = ()
    """Settings that are mappings and are merged with those of the file that ``extends`` names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RunSettings(Settings):
    """Base of the settings of a run that writes a folder: ``out``, or ``<home>/<name>``."""

    home: ClassVar[str] = "runs"
    name: str
    out: str = ""

    @property
    def folder(self) -> Path:
        """Where everything of this run is written."""
        return Path(self.out or f"{self.home}/{self.name}")


def load_settings(cls: type[S], path: str | Path, overrides: Sequence[str] = ()) -> S:
    """Read the YAML file at ``path``, apply ``key=value`` (dots for nested keys), and validate.

    ``path`` may name a shipped recipe of the command of ``cls``: ``cascade``, or
    ``configs/serve/cascade.yaml``, which is found from any working directory. A file with
    ``extends: other.yaml`` inherits the keys of that file, in the same folder; its own top-level
    keys replace them as a whole, but for the class's ``merged``.

    Raises:
        MissingError: there is no such file.
        SettingsError: not YAML, a recipe of another command, an unknown key, or a value of the
            wrong kind.

    """
    path = _file(cls.command, str(path))
    if cls.command and (command := command_of(path)) not in ("", cls.command):
        own = f"gradegpt {cls.command}"
        raise SettingsError(f"{path}: is a recipe of gradegpt {command}, not of {own}")
    return build_settings(cls, _read(path, cls.merged), str(path), overrides)


def parse_settings(cls: type[S], text: str, where: str) -> S:
    """Validate a YAML text that is not trusted, such as a part of a request.

    It can neither read files (``extends``) nor grow by aliases.

    Raises:
        SettingsError: not YAML, an alias, an unknown key, or a value of the wrong kind; the message
            begins with ``where``.

    """
    _refuse_aliases(text, where)
    return build_settings(cls, _mapping(text, where), where)


def _file(command: str, name: str) -> Path:
    """The file ``name``, or the shipped recipe of that name or path."""
    path = Path(found(name))
    if path.is_file():
        return path
    own = {recipe.stem: recipe for owner, recipe in recipes() if owner == command}
    if name in own:
        return own[name]
    others = " and ".join(f"gradegpt {owner}" for owner, recipe in recipes() if recipe.stem == name)
    if command and others:
        raise SettingsError(f"{name}: is a recipe of {others}, not of gradegpt {command}")
    shipped = f"; the shipped ones are: {', '.join(own)}" if own else ""
    near = suggest(name, [*own], cutoff=0.7)
    raise MissingError(f"{name}: no such settings file{near}{shipped}")


def _read(path: Path, merged: tuple[str, ...], extended: tuple[Path, ...] = ()) -> dict[str, Any]:
    if not path.is_file():
        raise MissingError(f"{path}: no such settings file; {extended[-1].name} extends it")
    if path in extended:
        raise SettingsError(f"{path}: extends itself through {extended[-1].name}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8 ({error.reason}); save it as UTF-8") from error
    data = _mapping(text, str(path))
    other = data.pop("extends", None)
    if other is None:
        return data
    above = _read(path.parent / other, merged, (*extended, path))
    both = {n: above[n] | data[n] for n in merged if n in above and isinstance(data.get(n), dict)}
    return above | data | both


def _mapping(text: str, where: str) -> dict[str, Any]:
    data = _parsed(text, where, is_file=True) or {}
    if not isinstance(data, dict):
        kind = type(data).__name__
        raise SettingsError(f"{where}: expected 'key: value' lines at the top, found a {kind}")
    return data


def _parsed(text: str, where: str, *, is_file: bool = False) -> Any:
    try:
        return yaml.load(text, LOADER)  # noqa: S506
    except yaml.YAMLError as error:
        raise _invalid(error, where, is_file=is_file) from error
    except RecursionError as error:
        raise SettingsError(f"{where}: is nested too deeply") from error


def _refuse_aliases(text: str, where: str) -> None:
    """Refuse a text in which a few lines stand for millions, or for themselves."""
    try:
        events = yaml.parse(text, LOADER)
        alias = next((event for event in events if isinstance(event, yaml.AliasEvent)), None)
    except yaml.YAMLError as error:
        raise _invalid(error, where, is_file=True) from error
    if alias is not None:
        line = f":{alias.start_mark.line + 1}" if alias.start_mark else ""
        raise SettingsError(f"{where}{line}: *{alias.anchor}: write the value instead of an alias")


def _invalid(error: yaml.YAMLError, where: str, *, is_file: bool) -> SettingsError:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    line = f":{mark.line + 1}:{mark.column + 1}" if mark and is_file else ""
    what = str(problem or error).replace("'<stream end>'", "the end")
    return SettingsError(f"{where}{line}: not valid YAML: {' '.join(what.split())}")


def build_settings(
    cls: type[S], data: Mapping[str, Any], where: str, overrides: Sequence[str] = ()
) -> S:
    """Apply ``key=value`` to ``data``, and validate; an error names what is wrong, or ``where``."""
    changed = deepcopy(dict(data))
    for override in overrides:
        _apply(changed, override)
    try:
        return cls.model_validate(_none_for_null(changed))
    except ValidationError as error:
        said = dict[str, str]()
        for found in mistakes(error):
            place = [str(part) for part in found.place or found.what.partition(":")[:1]]
            keys = {text: text.partition("=")[0].split(".") for text in overrides}
            own = (text for text, key in keys.items() if key[0] == place[0] and {*key} <= {*place})
            given, what = next(own, where), _explained(cls, found)
            said[given] = f"{said[given]}; {what}" if given in said else f"{given}: {what}"
        raise SettingsError("; ".join(said.values())) from error


def _apply(data: dict[str, Any], override: str) -> None:
    key, separator, value = override.partition("=")
    if not separator or not key:
        raise SettingsError(f"{override!r}: expected key=value, such as max_steps=100")
    *parents, last = key.split(".")
    for parent in parents:
        data = data.setdefault(parent, {})
        if not isinstance(data, dict):
            raise SettingsError(f"{override!r}: {parent!r} is a value and has no settings")
    data[last] = _parsed(value, repr(override)) if value else ""


def _none_for_null(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _none_for_null(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_none_for_null(v) for v in value]
    return None if value in ("null", "~") else value


def typed(value: Any) -> Any:
    """A value of YAML, which is text, as JSON reads it: 2e-4 is a number, true a truth value."""
    if isinstance(value, Mapping):
        return {name: typed(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [typed(one) for one in value]
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _explained(cls: type[BaseModel], mistake: Mistake) -> str:
    key, value = ".".join(map(str, mistake.place)), mistake.value
    if mistake.kind == "extra_forbidden":
        return f"unknown setting {key!r}{_suggested(cls, mistake.place)}"
    if mistake.kind == "missing":
        return f"setting {key!r} is required"
    what = mistake.what
    if what == "expected a list" and (examples := cls.model_fields[str(mistake.place[0])].examples):
        what += f", such as {examples[0]}"
    if mistake.kind == "value_error" or "did you mean" in what or isinstance(value, Mapping | list):
        return f"{key}: {what}" if key else what
    return f"{key}: {what}, got {'null' if value is None else repr(value)}"


def _suggested(cls: type[BaseModel], place: tuple[int | str, ...]) -> str:
    """The nearest setting of the same section, else of another one, with its full key."""
    word, known = str(place[-1]), _known_keys(cls)
    if word in known:
        return f"; did you mean {known[word]!r}?"
    section = "".join("0." if isinstance(part, int) else f"{part}." for part in place[:-1])
    beside = [name for name, key in known.items() if key == section + name]
    near = suggest(word, beside, cutoff=0.7) or suggest(word, [*known])
    return re.sub(r"'(\w+)'", lambda found: repr(known[found[1]]), near)


def keys_of(command: str) -> dict[str, str]:
    """The settings of a command whose classes are imported, as ``KEY=VALUE`` sets them."""
    classes, found = list[type[Settings]]([Settings]), dict[str, str]()
    for cls in classes:  # grows in the loop
        classes += cls.__subclasses__()
        found |= _known_keys(cls) if cls.command == command else {}
    return {name: key for name, key in found.items() if ".0." not in key}


def _known_keys(cls: type[BaseModel]) -> dict[str, str]:
    """The names of all settings, also in sections, with their full keys: judges.0.threads."""
    schema = cls.model_json_schema()
    parts: dict[str, Any] = schema.get("$defs", {})
    places: dict[str, str] = {}
    # The schema of recursive settings is a reference to itself.
    waiting = [(schema, ""), *((parts[name], "") for name, _ in _sections(schema))]
    for part, above in waiting:  # grows in the loop: breadth first
        for name, what in part.get("properties", {}).items():
            if name not in places:
                places[name] = place = above + name
                waiting += [(parts[s], f"{place}.{below}") for s, below in _sections(what)]
                options = (what.get("examples") or [()])[0]
                places |= {o: f"{place}.{o}" for o in options if isinstance(options, dict)}
    return places


def _sections(what: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The sections of a setting, each with the keys between its name and theirs."""
    if "$ref" in what:
        yield what["$ref"].rpartition("/")[2], ""
    for choice in (*what.get("anyOf", ()), *what.get("oneOf", ()), *what.get("allOf", ())):
        yield from _sections(choice)
    if isinstance(items := what.get("items"), Mapping):
        yield from ((section, f"0.{below}") for section, below in _sections(items))
