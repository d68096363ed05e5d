"""The settings of judges: a class for each kind, with the settings that have an effect there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from gradegpt.chains.chain import PromptSettings
from gradegpt.chains.shots import MOST
from gradegpt.core.schema import ChainFormat
from gradegpt.core.settings import Settings, build_settings
from gradegpt.engines.client import RequestSettings

OWN: Final = "own"
"""A shipped judge's own adapter; none where the model is not a shipped judge."""

J = TypeVar("J", bound="JudgeSettings")
_Bound = Annotated[float, Field(gt=0, lt=0.5)]


class JudgeSettings(Settings):
    """What all kinds of judges have in common; ``JudgeSettings.of(kind="rules")`` makes one."""

    kind: Literal["rules", "model", "cascade", "panel", "code", "parts"] = "cascade"
    name: str = ""
    cache: Path | None = None
    """A file that keeps judgements, so that no item is judged twice; see ``judges/cached.py``."""

    @staticmethod
    def of(where: str = "judge", **given: Any) -> JudgeSettings:
        """The settings of the given ``kind``, by default a cascade.

        Raises:
            SettingsError: an unknown kind, a setting that it does not have, or a wrong value; the
                message begins with ``where``.

        """
        kind = build_settings(JudgeSettings, {"kind": given.get("kind", "cascade")}, where).kind
        return build_settings(KINDS[kind], given, where)

    @model_validator(mode="before")
    @classmethod
    def _of_this_kind(cls, given: Any) -> Any:
        """Refuse a setting of another kind; one of no kind is refused with a suggestion."""
        all_kinds = {name for kind in KINDS.values() for name in kind.model_fields}
        others = [name for name in given if name in all_kinds - cls.model_fields.keys()]
        if others and cls is not JudgeSettings:
            kind, own = cls.model_fields["kind"].default, ", ".join(sorted(cls.model_fields))
            raise ValueError(f"{', '.join(others)}: not for the judge {kind!r}, which has {own}")
        return given

    @property
    def label(self) -> str:
        """The judge's name in tables."""
        profile = self.profile if isinstance(self, RuleJudgeSettings) else None
        return self.name or profile or self.kind

    @property
    def asks_no_model(self) -> bool:
        """Whether the judge is of a kind that uses no model."""
        return self.kind in ("rules", "code")

    @property
    def takes_several(self) -> bool:
        """Whether several threads may call the judge at a time: a local model takes one batch."""
        if isinstance(self, EngineSettings):
            return self.base_url is not None
        return self.asks_no_model

    @property
    def rows_at_a_time(self) -> int:
        """Rows to judge per call: enough for all cores, or two forward passes."""
        if isinstance(self, EngineSettings):
            return 2 * self.batch_size
        return 1_024 if self.asks_no_model else 64


class RuleJudgeSettings(JudgeSettings):
    """The rules, or with ``profile`` a benchmark's scorer (``gradegpt.rules.profiles``)."""

    kind: Literal["rules"] = "rules"
    profile: str | None = None


class CodeJudgeSettings(JudgeSettings):
    """Programs on their test cases, ``seconds`` for each."""

    kind: Literal["code"] = "code"
    seconds: float = Field(default=5.0, gt=0)


class EngineSettings(JudgeSettings):
    """A model, and what runs it.

    ``model`` is a judge by name or folder (``core.shipped``), which has its own adapter, or a
    folder or hub name of a model, which has none. With ``base_url`` an OpenAI-compatible server is
    used instead of a local model; several, as a list or with commas between them, share the
    prompts. ``prompt`` defaults to the settings stored with the adapter or the model;
    ``chain_format`` replaces one of these.
    """

    model: str = ""
    adapter: str | None = OWN
    base_url: str | tuple[str, ...] | None = None
    prompt: PromptSettings | None = None
    chain_format: ChainFormat | None = None
    shots: int = Field(default=0, ge=0, le=MOST)
    """Worked examples before each item, as for a model that was not trained to judge."""
    max_new_tokens: int = Field(default=384, ge=1)
    batch_size: int = Field(default=32, ge=1)
    concurrency: int = Field(default=16, ge=1)
    constrained: bool | None = None
    """Whether chains are held to their grammar (``gradegpt.chains.grammar``): by default those of
    models in this process; with ``base_url`` by vLLM's parameter ``structured_outputs``."""
    request: RequestSettings = RequestSettings()
    """With ``base_url``: what a reasoning model needs, such as ``thinking_tokens``."""
    calibration: Path | None = None
    """The calibration of a judge in a cascade; by default the one beside its weights."""

    @property
    def names_a_model(self) -> bool:
        """Whether there is a model to ask; an adapter names its base."""
        return bool(self.model or self.base_url or self.adapter not in (OWN, None))

    def shared_with(self, kind: type[J]) -> J:
        """Settings of another kind, with those that both have; the cache stays with this judge."""
        shared = (kind.model_fields.keys() & self.model_fields_set) - {"kind", "name", "cache"}
        return kind(**{name: getattr(self, name) for name in shared})


class ModelJudgeSettings(EngineSettings):
    """A language model by itself."""

    kind: Literal["model"] = "model"


class StagesSettings(EngineSettings):
    """A list of judges, the cheapest first, and which verdicts are sure enough.

    ``judges`` are by default the rules and the model, with the judges between them after which it
    was calibrated; without a model the rules.
    """

    judges: tuple[AnyJudge, ...] = ()
    min_confidence: float = Field(default=0.75, ge=0, le=1)
    """The least measured confidence of a verdict; below it an item is undecided. 0 gives every
    verdict."""
    labels: Path | None = None
    """A table of graded answers: from ten to a question on, the nearest of them count, too. See
    ``judges/neighbours.py``."""
    labels_map: tuple[str, ...] = ()
    """``FIELD=COLUMN`` for each column of ``labels`` whose name does not show what it holds."""
    max_error: _Bound | None = None
    """A bound on the share of wrong verdicts, which replaces ``min_confidence``. See
    ``judges/promise.py``."""

    @model_validator(mode="after")
    def _maps_columns_of_labels(self) -> Self:
        if self.labels_map and self.labels is None:
            raise ValueError("labels_map: set labels too")
        for one in self.labels_map:
            if one.find("=") < 1:
                raise ValueError(f"labels_map: {one!r}: expected FIELD=COLUMN, such as label=grade")
        return self


class CascadeJudgeSettings(StagesSettings):
    """Each judge is asked what those before it left unsure."""

    kind: Literal["cascade"] = "cascade"


class PartsJudgeSettings(StagesSettings):
    """A cascade judges each part of an item; ``least`` is the share that makes it correct."""

    kind: Literal["parts"] = "parts"
    least: float = Field(default=1.0, gt=0, le=1)


class PanelJudgeSettings(JudgeSettings):
    """Judges that vote."""

    kind: Literal["panel"] = "panel"
    judges: tuple[AnyJudge, ...] = ()


KINDS: Final[dict[str, type[JudgeSettings]]] = {
    "rules": RuleJudgeSettings, "code": CodeJudgeSettings,
    "model": ModelJudgeSettings, "cascade": CascadeJudgeSettings, "parts": PartsJudgeSettings,
    "panel": PanelJudgeSettings,
}  # fmt: skip


def _of_kind(given: Any) -> JudgeSettings:
    """Not pydantic's discriminator, which puts the kind between the keys of an error's place."""
    if isinstance(given, JudgeSettings):
        return given
    kind = {"kind": given.get("kind", "cascade")} if isinstance(given, Mapping) else given
    return KINDS[JudgeSettings.model_validate(kind).kind].model_validate(given)


AnyJudge = Annotated[
    RuleJudgeSettings | CodeJudgeSettings | ModelJudgeSettings
    | CascadeJudgeSettings | PartsJudgeSettings | PanelJudgeSettings,
    BeforeValidator(_of_kind),
]  # fmt: skip
"""The settings of a judge inside other settings: a mapping of any kind, ``{kind: rules}``."""

for _kind in KINDS.values():
    _kind.model_rebuild()
