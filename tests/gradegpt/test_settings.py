"""YAML and ``key=value`` become frozen settings, typed by their class alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field

from eval.settings import EvalSettings
from gradegpt.app.options import with_folder
from gradegpt.core.errors import MissingError, SettingsError
from gradegpt.core.settings import Settings, build_settings, load_settings
from serve.settings import ServeSettings


class Inner(Settings):
    """Settings of a part."""

    response: int = 1
    label: str = ""


class Outer(Settings):
    """Settings of every kind of value."""

    name: str = "x"
    max_steps: int = Field(default=1, ge=1)
    learning_rate: float = 1.0
    resume: bool = True
    note: str | None = "n"
    inner: Inner = Inner()
    parts: tuple[Inner, ...] = Field(default=(), min_length=1, examples=["[{label: a}]"])
    weights: dict[str, float] = Field(default_factory=dict)


def load(tmp_path: Path, text: str, *overrides: str) -> Outer:
    path = tmp_path / "c.yaml"
    path.write_text(text, encoding="utf-8")
    return load_settings(Outer, path, overrides)


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("learning_rate: 2e-4", "learning_rate", 2e-4),
        ("name: no", "name", "no"),
        ("name: 007", "name", "007"),
        ("resume: no", "resume", False),
        ("note: null", "note", None),
        ("note: none", "note", "none"),
        ("inner: {response: 5}", "inner", Inner(response=5)),
        ("parts: [{label: a}, {label: null-ish}]", "parts",
        (Inner(label="a"), Inner(label="null-ish"))),
        ("weights: {a: 1e-1}", "weights", {"a": 0.1}),
        ("# nothing but a comment", "name", "x"),
    ],
)  # fmt: skip
def test_a_value_has_the_type_of_its_field(
    tmp_path: Path, text: str, field: str, value: object
) -> None:
    """PyYAML alone reads ``2e-4`` as text, ``no`` as False and ``007`` as 7."""
    assert getattr(load(tmp_path, text), field) == value


@pytest.mark.parametrize(
    ("override", "field", "value"),
    [
        ("max_steps=7", "max_steps", 7),
        ("name=a=b", "name", "a=b"),
        ("name=", "name", ""),
        ("inner.response=9", "inner", Inner(response=9, label="kept")),
        ("inner={response: 9}", "inner", Inner(response=9)),
        ("parts=[{label: z}]", "parts", (Inner(label="z"),)),
    ],
)
def test_an_override_replaces_one_value(
    tmp_path: Path, override: str, field: str, value: object
) -> None:
    """Dots name nested keys, other keys are kept; the value is YAML."""
    settings = load(tmp_path, "name: file\ninner: {label: kept}", override)
    assert getattr(settings, field) == value


@pytest.mark.parametrize(
    ("text", "overrides", "message"),
    [
        ("max_step: 5", (), "unknown setting 'max_step'; did you mean 'max_steps'?"),
        ("response: 5", (), "unknown setting 'response'; did you mean 'inner.response'?"),
        ("inner: {respons: 5}", (),
        "unknown setting 'inner.respons'; did you mean 'inner.response'?"),
        ("zzzz: 5", (), "unknown setting 'zzzz'"),
        ("note: x", ("inner.labl=1",), "inner.labl=1: unknown setting 'inner.labl'; did you mean "
         "'inner.label'?"),
        ("max_steps: many", (),
         "max_steps: expected a whole number, got 'many'"),
        ("max_steps: 0", (), "max_steps: should be greater than or equal to 1, got '0'"),
        ("name: null", (), "name: expected text, got null"),
        ("parts: x", (), "parts: expected a list, such as [{label: a}], got 'x'"),
        ("inner: {labl: 5}", (), "unknown setting 'inner.labl'; did you mean 'inner.label'?"),
        ("name: x\n\tresume: no", (), ":2:1: not valid YAML: found"),
        ("a: 1\n b: 2", (), ":2:3: not valid YAML: mapping values are not allowed"),
        ("just words", (), "expected 'key: value' lines at the top, found a str"),
        ("", ("max_steps",), "'max_steps': expected key=value, such as max_steps=100"),
        ("", ("parts=[",), "'parts=[': not valid YAML: "),
        ("name: x", ("name.first=y",),
        "'name.first=y': 'name' is a value and has no settings"),
        ("!!python/object/apply:os.system [ls]", (),
        "expected 'key: value' lines at the top, found a list"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_that_says_what_to_do(
    tmp_path: Path, text: str, overrides: tuple[str, ...], message: str
) -> None:
    """Unknown keys are never ignored."""
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, text, *overrides)
    error = str(caught.value).removeprefix(f"{tmp_path / 'c.yaml'}").removeprefix(": ")
    assert error.startswith(message)
    assert "\n" not in error


def test_a_file_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    """It names the file and says what to do."""
    (tmp_path / "c.yaml").write_bytes(b"name: \xff")
    with pytest.raises(SettingsError, match=r"c\.yaml: not UTF-8 \(invalid start byte\); save it"):
        load_settings(Outer, tmp_path / "c.yaml")


def test_all_mistakes_are_reported(tmp_path: Path) -> None:
    """In one message."""
    with pytest.raises(SettingsError, match=r"learning_rate: .*'fast'; unknown setting 'max_step'"):
        load(tmp_path, "max_step: 1\nlearning_rate: fast")


def test_a_mistake_inside_a_list_is_reported_once(tmp_path: Path) -> None:
    """Not also that the list is then too short."""
    with pytest.raises(SettingsError, match=r"^\S*: parts\.0\.response: expected a [^;]*$"):
        load(tmp_path, "parts: [{response: x}]")


def test_the_nearest_setting_of_the_same_section_is_suggested() -> None:
    """``prot`` is more like ``prompt``, which is a setting of the judge."""
    with pytest.raises(SettingsError, match="'prot'; did you mean 'port'"):
        load_settings(ServeSettings, "cascade", ["prot=8000"])
    with pytest.raises(SettingsError, match=r"'judge\.modl'; did you mean 'judge\.model'"):
        load_settings(ServeSettings, "cascade", ["judge.modl=x"])


@pytest.mark.parametrize("name", ["../x", "a/b", ""])
def test_a_name_that_cannot_be_a_file_is_explained_in_words(name: str) -> None:
    """And not by a pattern."""
    with pytest.raises(SettingsError, match=r"name: the name .* use letters, digits and"):
        load_settings(EvalSettings, "handmade", [f"name={name}"])


def test_a_near_choice_is_suggested() -> None:
    """Of the values that a setting may have."""
    with pytest.raises(
        SettingsError, match=r"judges\.0\.kind: should be .*; did you mean 'rules'\?"
    ):
        load_settings(EvalSettings, "handmade", ["judges=[{kind: rule}]"])


def test_a_required_setting_is_named() -> None:
    """With the file where it is missing."""

    class Needs(Settings):
        data: str

    with pytest.raises(SettingsError, match=r"^c\.yaml: setting 'data' is required$"):
        build_settings(Needs, {}, where="c.yaml")


def test_the_error_of_a_missing_file_lists_the_shipped_ones() -> None:
    """Those of the command that the settings are for."""
    with pytest.raises(MissingError, match=r"nowhere: no such .*: cascade, gradegpt-1\.5b$"):
        load_settings(ServeSettings, "nowhere")
    with pytest.raises(MissingError, match=r"cascad: no such .*; did you mean 'cascade'\?; the"):
        load_settings(ServeSettings, "cascad")
    with pytest.raises(MissingError, match=r"nowhere\.yaml: no such settings file$"):
        load_settings(Outer, "nowhere.yaml")


@pytest.mark.parametrize("name", ["ablation-0.5b", "configs/eval/ablation-0.5b.yaml"])
def test_a_recipe_of_another_command_is_an_error_that_names_it(name: str) -> None:
    """Its settings would all be unknown."""
    with pytest.raises(SettingsError, match=r"is a recipe of gradegpt eval\.ablation, not of "):
        load_settings(EvalSettings, name)
    with pytest.raises(SettingsError, match=r"of gradegpt serve and gradegpt train, not of"):
        load_settings(EvalSettings, "gradegpt-1.5b")


@pytest.mark.parametrize("name", ["cascade", "configs/serve/cascade.yaml"])
def test_a_shipped_recipe_is_found_from_anywhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its name or path; a file of that name in the working directory has precedence."""
    monkeypatch.chdir(tmp_path)
    assert load_settings(ServeSettings, name, ["port=1"]).judge.kind == "cascade"
    own = tmp_path / name
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("judge: {kind: rules}\n", encoding="utf-8")
    assert load_settings(ServeSettings, name).judge.kind == "rules"


def test_a_file_that_extends_a_missing_one_is_an_error(tmp_path: Path) -> None:
    """A shipped recipe of that name is not used."""
    (tmp_path / "mine.yaml").write_text("extends: cascade.yaml\n", encoding="utf-8")
    with pytest.raises(MissingError, match=r"cascade\.yaml: no such .* mine\.yaml extends it"):
        load_settings(ServeSettings, tmp_path / "mine.yaml")


def test_a_file_may_extend_another(tmp_path: Path) -> None:
    """Its own top-level keys replace the other's; that may extend a third; overrides are last."""
    (tmp_path / "a.yaml").write_text("name: a\nmax_steps: 3\ninner: {response: 4, label: x}\n")
    (tmp_path / "b.yaml").write_text("extends: a.yaml\nname: b\n")
    made = load(tmp_path, "extends: b.yaml\ninner: {response: 5}\n", "learning_rate=2")
    assert made == Outer(name="b", max_steps=3, inner=Inner(response=5), learning_rate=2)


@pytest.mark.parametrize(
    ("other", "error", "says"),
    [
        ("extends: c.yaml", SettingsError, "extends itself through b.yaml"),
        ("extends: gone.yaml", MissingError, "gone.yaml: no such settings file"),
        ("no_such: 1", SettingsError, "c.yaml: unknown setting 'no_such'"),
    ],
)
def test_an_invalid_chain_of_files_is_an_error(
    tmp_path: Path, other: str, error: type[Exception], says: str
) -> None:
    """The message names the file."""
    (tmp_path / "b.yaml").write_text(other)
    with pytest.raises(error, match=says):
        load(tmp_path, "extends: b.yaml\n")


@pytest.mark.parametrize("folder", ["runs/a", "a: b", "x #1", "[1]", '"', "中"])
def test_a_folder_by_an_option_is_the_setting_out_as_it_is_written(folder: str) -> None:
    """``-o FOLDER`` is ``out=FOLDER``, and no text of it is YAML."""
    given = {"name": "n", "sources": [{"path": "a.jsonl"}], "judges": [{"kind": "rules"}]}
    changed = with_folder(folder, ["seed=1"])
    settings = build_settings(EvalSettings, given, "options", changed)
    assert (settings.out, settings.seed) == (folder, 1)
    assert with_folder(None, None) == []
