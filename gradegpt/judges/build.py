"""Settings -> a judge: the one builder behind the command line, the evaluation and the server."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from gradegpt.chain import PromptSettings
from gradegpt.engines.base import Engine
from gradegpt.errors import SettingsError
from gradegpt.judges.base import Judge
from gradegpt.judges.cached import CachedJudge
from gradegpt.judges.calibration import Calibration, calibration_beside
from gradegpt.judges.cascade import CascadeJudge
from gradegpt.judges.code import CodeJudge
from gradegpt.judges.deferred import DeferredJudge
from gradegpt.judges.lexical import LexicalJudge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.panel import PanelJudge, Vote
from gradegpt.judges.parallel import ParallelJudge
from gradegpt.judges.parts import PartsJudge
from gradegpt.judges.parts_model import PartsModelJudge
from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.records import read_rows
from gradegpt.sandbox import Limits
from gradegpt.schema import ChainFormat, TrainingRow
from gradegpt.settings import Settings
from gradegpt.shipped import NANO, adapter_of, base_of, judges

OWN: Final = "own"
"""The adapter that a shipped judge's name stands for; none where the model is no shipped judge."""


_WITHOUT_MODEL: Final = frozenset(("rules", "lexical", "code"))
_EACH_PART: Final = {"kind": "cascade", "cache": None}
"""The settings of ``parts`` with these are those of the judge of each part."""


class JudgeSettings(Settings):
    """Which judge, and what stands behind it.

    ``model`` is a shipped judge (``gradegpt.shipped``), which brings its own adapter, or a folder
    or hub name, which has none. A ``base_url`` asks an OpenAI-compatible server instead of a local
    model; several, as a list or with commas between them, share the work. ``prompt`` defaults to
    what lies beside the adapter or the model; ``chain_format`` replaces one part of it.
    """

    name: str = ""
    kind: Literal["rules", "lexical", "model", "cascade", "panel", "code", "parts"] = "cascade"
    profile: str | None = None
    """Scores as this benchmark does, with ``kind: rules``; see ``gradegpt.rules.profiles``."""
    model: str = NANO
    adapter: str | None = OWN
    engine: Literal["auto", "transformers", "onnx"] = "auto"
    """What runs a local model: ``auto`` takes ``onnx`` for what ``train.export`` wrote."""
    base_url: str | tuple[str, ...] | None = None
    api_key: str | None = None
    prompt: PromptSettings | None = None
    chain_format: ChainFormat | None = None
    shots: str | None = None
    """A file of training rows, solved and shown before every item: for an untuned model."""
    max_new_tokens: int = Field(default=384, ge=1)
    min_confidence: float = Field(default=0.0, ge=0, le=1)
    abstain: bool = True
    """A cascade leaves open what ``calibration.json`` beside the weights has no threshold for or
    what is below it; without, the model decides it all. See ``judges/calibration.py``."""
    judges: tuple[JudgeSettings, ...] = ()
    """Who votes, with ``kind: panel``; with ``kind: parts`` who judges each part, alone. Without
    one a cascade of the same settings does."""
    least: float = Field(default=1.0, gt=0, le=1)
    """The share of its parts that makes an item correct, with ``kind: parts``."""
    one_prompt: bool = False
    """With ``kind: parts``: the model is asked once about all parts of an item."""
    vote: Vote = Vote.MAJORITY
    accuracy: Annotated[float, Field(gt=0.5, le=1)] | None = None
    """The measured accuracy of a judge on a panel whose vote is ``weighted``."""
    seconds: float = Field(default=5.0, gt=0)
    """What a test case of a program may take, with ``kind: code``; ``memory_mb`` a process."""
    memory_mb: int = Field(default=512, ge=16)
    batch_size: int = Field(default=32, ge=1)
    concurrency: int = Field(default=16, ge=1)
    threads: int | None = Field(default=None, ge=1)
    """Threads of a forward pass; the ``onnx`` engine works on several passes at a time."""
    device: str | None = None
    constrained: bool = True
    """Local models quote only what the response says; see ``gradegpt.constrained``."""
    cache: Path | None = None
    """A file of judgements, so that nothing is judged twice; see ``judges/cached.py``."""

    @property
    def label(self) -> str:
        """The judge's name in tables."""
        return self.name or self.profile or self.kind

    @property
    def asks_no_model(self) -> bool:
        """Whether the judge works without a model."""
        return self.kind in _WITHOUT_MODEL

    @property
    def takes_several(self) -> bool:
        """Whether several threads may ask the judge at a time: a local model takes one batch."""
        return self.asks_no_model or self.base_url is not None

    @property
    def rows_at_a_time(self) -> int:
        """Rows that a run judges together: enough for all cores, or two forward passes."""
        return 1_024 if self.asks_no_model else 2 * self.batch_size


def build_judge(settings: JudgeSettings) -> Judge:
    """The judge that the settings describe; a cascade loads its model when it is first needed.

    Raises:
        MissingError: a model, adapter or package is not there; of a cascade's when it is loaded.
        EngineError: a model does not load.
        SettingsError: no profile of that name, or one for another judge.
        OutputError: the cache is something else, or cannot be used.

    """
    judge = _judge(settings)
    return judge if settings.cache is None else CachedJudge(judge, settings.cache)


def _judge(settings: JudgeSettings) -> Judge:
    if settings.profile is not None:
        if settings.kind != "rules":
            raise SettingsError(f"profile {settings.profile!r}: goes with the judge 'rules' alone")
        return ParallelJudge(ProfileJudge(settings.profile))
    if settings.kind == "rules":
        return ParallelJudge(RuleJudge())
    if settings.kind == "lexical":
        return LexicalJudge()
    if settings.kind == "code":
        return CodeJudge(Limits(settings.seconds, settings.memory_mb))
    if settings.kind == "panel":
        told = [judge.accuracy for judge in settings.judges if judge.accuracy is not None]
        return PanelJudge([build_judge(judge) for judge in settings.judges], settings.vote, told)
    if settings.kind == "parts":
        return _parts(settings)
    return _model_judge(settings) if settings.kind == "model" else _cascade(settings)


def _parts(settings: JudgeSettings) -> PartsJudge | PartsModelJudge:
    if len(settings.judges) > 1 or (settings.judges and settings.one_prompt):
        raise SettingsError(
            "judges: 'parts' takes one judge for all parts, and none with one_prompt; "
            "put several into one of 'kind: panel'"
        )
    if settings.one_prompt and settings.model == NANO:
        raise SettingsError("one_prompt: set 'model' too; the embedded one judges one answer")
    if settings.one_prompt:  # no chain, so nothing to constrain, and longer than one
        given = {"max_new_tokens"} & settings.model_fields_set
        limit = settings.max_new_tokens if given else 1024
        free = settings.model_copy(update={"constrained": False})
        engine = _engine(free, *_folders(free))
        return PartsModelJudge(engine, settings.least, max_new_tokens=limit)
    inner = settings.judges[0] if settings.judges else settings.model_copy(update=_EACH_PART)
    return PartsJudge(build_judge(inner), settings.least)


def _cascade(settings: JudgeSettings) -> CascadeJudge:
    calibration = _calibration(settings)
    first: Judge = RuleJudge()
    if calibration is not None and calibration.lexical:
        first = CascadeJudge(first, LexicalJudge(), calibration.of_lexical)
    model = DeferredJudge(ModelJudge.name, partial(_model_judge, settings))
    guessing = calibration and calibration.guessing
    return CascadeJudge(first, model, calibration if settings.abstain else guessing)


def _calibration(settings: JudgeSettings) -> Calibration | None:
    """What lies beside the weights of a local model."""
    if settings.base_url is not None:
        return None
    model, adapter = _folders(settings)
    return calibration_beside(adapter) or calibration_beside(model)


def _folders(settings: JudgeSettings) -> tuple[str, str | None]:
    """The base and its adapter."""
    own = settings.model if settings.model in judges() else None
    wanted = own if settings.adapter == OWN else settings.adapter
    return base_of(settings.model), adapter_of(wanted) if wanted else None


def _model_judge(settings: JudgeSettings) -> ModelJudge:
    from gradegpt.engines.files import prompt_settings_beside

    if settings.base_url is not None and settings.model == NANO:
        raise SettingsError("base_url: set 'model' too, to the model's name on that server")
    model, adapter = _folders(settings)
    prompt = settings.prompt or prompt_settings_beside(adapter) or prompt_settings_beside(model)
    if settings.chain_format is not None:
        changed = {"chain_format": settings.chain_format}
        prompt = (prompt or PromptSettings()).model_copy(update=changed)
    return ModelJudge(
        _engine(settings, model, adapter),
        prompt,
        shots=list(read_rows(settings.shots, TrainingRow)) if settings.shots else (),
        max_new_tokens=settings.max_new_tokens,
        min_confidence=settings.min_confidence,
    )


def _engine(settings: JudgeSettings, model: str, adapter: str | None) -> Engine:
    if settings.base_url is not None:
        from gradegpt.engines.openai_api import OpenAIEngine

        url, key, at_once = settings.base_url, settings.api_key, settings.concurrency
        return OpenAIEngine(url, settings.model, api_key=key, concurrency=at_once)
    from gradegpt.engines.exported import is_exported

    exported = is_exported(model)
    if exported and settings.engine == "transformers":
        raise SettingsError(f"engine: {model} was exported for 'onnx'; take that or 'auto'")
    if exported or settings.engine == "onnx":
        return _fast(settings, model, adapter)
    from gradegpt.engines.local import LocalEngine

    wanted = settings.model_dump(include={"batch_size", "threads", "device", "constrained"})
    return LocalEngine(model, adapter, **wanted)


def _fast(settings: JudgeSettings, folder: str, adapter: str | None) -> Engine:
    if adapter is not None:
        raise SettingsError(
            f"adapter: none goes onto an exported model; gradegpt export {adapter} OUT "
            "makes one with the adapter in it"
        )
    if settings.device not in (None, "cpu"):
        raise SettingsError(f"device: an exported model runs on 'cpu', not on {settings.device!r}")
    from gradegpt.engines.fast import FastEngine

    return FastEngine(folder, threads=settings.threads, constrained=settings.constrained)
