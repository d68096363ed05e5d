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
"""A shipped judge's own adapter; none where the model is not a shipped judge."""


_WITHOUT_MODEL: Final = frozenset(("rules", "lexical", "code"))
_EACH_PART: Final = {"kind": "cascade", "cache": None}
"""The changes to the settings of ``parts`` that give the settings of the judge of each part."""


class JudgeSettings(Settings):
    """The kind of judge, its model and its options.

    ``model`` is a shipped judge (``gradegpt.shipped``), which has its own adapter, or a folder or
    hub name, which has none. With ``base_url`` an OpenAI-compatible server is used instead of a
    local model; several, as a list or with commas between them, share the prompts. ``prompt``
    defaults to the settings stored with the adapter or the model; ``chain_format`` replaces one of
    these.
    """

    name: str = ""
    kind: Literal["rules", "lexical", "model", "cascade", "panel", "code", "parts"] = "cascade"
    profile: str | None = None
    """Score as this benchmark does; ``kind: rules`` only. See ``gradegpt.rules.profiles``."""
    model: str = NANO
    adapter: str | None = OWN
    engine: Literal["auto", "transformers", "onnx"] = "auto"
    """What runs a local model: ``auto`` is ``onnx`` for a folder that ``train.export`` wrote."""
    base_url: str | tuple[str, ...] | None = None
    api_key: str | None = None
    prompt: PromptSettings | None = None
    chain_format: ChainFormat | None = None
    shots: str | None = None
    """A file of training rows that are shown, solved, before every item: for an untuned model."""
    max_new_tokens: int = Field(default=384, ge=1)
    min_confidence: float = Field(default=0.0, ge=0, le=1)
    abstain: bool = True
    """A cascade leaves undecided what is below the threshold of ``calibration.json`` beside the
    weights; without it, the model decides everything. See ``judges/calibration.py``."""
    judges: tuple[JudgeSettings, ...] = ()
    """With ``kind: panel`` the judges that vote; with ``kind: parts`` the judge of each part, by
    default a cascade with the same settings."""
    least: float = Field(default=1.0, gt=0, le=1)
    """The share of its parts that makes an item correct, with ``kind: parts``."""
    one_prompt: bool = False
    """With ``kind: parts``: one prompt to the model for all parts of an item."""
    vote: Vote = Vote.MAJORITY
    accuracy: Annotated[float, Field(gt=0.5, le=1)] | None = None
    """The measured accuracy of a judge in a panel whose vote is ``weighted``."""
    seconds: float = Field(default=5.0, gt=0)
    """With ``kind: code`` the time limit of a test case; ``memory_mb`` is that of a process."""
    memory_mb: int = Field(default=512, ge=16)
    batch_size: int = Field(default=32, ge=1)
    concurrency: int = Field(default=16, ge=1)
    threads: int | None = Field(default=None, ge=1)
    """Threads of a forward pass; the ``onnx`` engine runs several passes at a time."""
    device: str | None = None
    constrained: bool = True
    """Local models decode under a constraint: quotes are verbatim. See ``gradegpt.constrained``."""
    cache: Path | None = None
    """A file that keeps judgements, so that no item is judged twice; see ``judges/cached.py``."""

    @property
    def label(self) -> str:
        """The judge's name in tables."""
        return self.name or self.profile or self.kind

    @property
    def asks_no_model(self) -> bool:
        """Whether the judge uses no model."""
        return self.kind in _WITHOUT_MODEL

    @property
    def takes_several(self) -> bool:
        """Whether several threads may call the judge at a time: a local model takes one batch."""
        return self.asks_no_model or self.base_url is not None

    @property
    def rows_at_a_time(self) -> int:
        """Rows to judge per call: enough for all cores, or two forward passes."""
        return 1_024 if self.asks_no_model else 2 * self.batch_size


def build_judge(settings: JudgeSettings) -> Judge:
    """The judge that the settings describe; a cascade loads its model when it is first needed.

    Raises:
        MissingError: a model, adapter or package is not there; for a cascade when it is loaded.
        EngineError: a model does not load.
        SettingsError: an unknown profile, or settings that do not go together.
        OutputError: the cache is not a cache of judgements, or cannot be used.

    """
    judge = _judge(settings)
    return judge if settings.cache is None else CachedJudge(judge, settings.cache)


def _judge(settings: JudgeSettings) -> Judge:
    if settings.profile is not None:
        if settings.kind != "rules":
            raise SettingsError(f"profile {settings.profile!r}: requires the judge 'rules'")
        return ParallelJudge(ProfileJudge(settings.profile))
    if settings.kind == "rules":
        return ParallelJudge(RuleJudge())
    if settings.kind == "lexical":
        return LexicalJudge()
    if settings.kind == "code":
        return CodeJudge(Limits(settings.seconds, settings.memory_mb))
    if settings.kind == "panel":
        judges = [build_judge(judge) for judge in settings.judges]
        accuracies = [judge.accuracy for judge in settings.judges if judge.accuracy is not None]
        return PanelJudge(judges, settings.vote, accuracies)
    if settings.kind == "parts":
        return _parts(settings)
    return _model_judge(settings) if settings.kind == "model" else _cascade(settings)


def _parts(settings: JudgeSettings) -> PartsJudge | PartsModelJudge:
    if len(settings.judges) > 1 or (settings.judges and settings.one_prompt):
        raise SettingsError(
            "judges: 'parts' takes one judge for all parts, and none with one_prompt; "
            "for several use one judge of 'kind: panel'"
        )
    if settings.one_prompt and settings.model == NANO:
        raise SettingsError("one_prompt: set 'model' too; the built-in one judges single answers")
    if settings.one_prompt:  # the reply is longer than a chain, and the constraint is for chains
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
    if calibration is not None and not settings.abstain:
        calibration = calibration.without_thresholds
    return CascadeJudge(first, model, calibration)


def _calibration(settings: JudgeSettings) -> Calibration | None:
    """The calibration stored with a local model's weights."""
    if settings.base_url is not None:
        return None
    model, adapter = _folders(settings)
    return calibration_beside(adapter) or calibration_beside(model)


def _folders(settings: JudgeSettings) -> tuple[str, str | None]:
    """The folders or hub names of the base and its adapter."""
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
        raise SettingsError(f"engine: {model} was exported for 'onnx'; use 'onnx' or 'auto'")
    if exported or settings.engine == "onnx":
        return _fast(settings, model, adapter)
    from gradegpt.engines.local import LocalEngine

    wanted = settings.model_dump(include={"batch_size", "threads", "device", "constrained"})
    return LocalEngine(model, adapter, **wanted)


def _fast(settings: JudgeSettings, folder: str, adapter: str | None) -> Engine:
    if adapter is not None:
        raise SettingsError(
            "adapter: an exported model takes none; export one that includes it: "
            f"gradegpt export {adapter} OUT"
        )
    if settings.device not in (None, "cpu"):
        raise SettingsError(f"device: is {settings.device!r}; an exported model runs on 'cpu'")
    from gradegpt.engines.fast import FastEngine

    return FastEngine(folder, threads=settings.threads, constrained=settings.constrained)
