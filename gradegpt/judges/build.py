"""Settings -> a judge: the one builder behind the command line, the evaluation and the server."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from gradegpt.chains.chain import PromptSettings
from gradegpt.core.errors import MissingError, SettingsError
from gradegpt.core.records import read_rows
from gradegpt.core.sandbox import ResourceLimits
from gradegpt.core.schema import ChainFormat, TrainingRow
from gradegpt.core.settings import Settings
from gradegpt.core.shipped import NANO, adapter_of, base_of, is_judge
from gradegpt.engines.base import Engine
from gradegpt.engines.client import RequestSettings
from gradegpt.judges.base import Judge
from gradegpt.judges.cached import CachedJudge
from gradegpt.judges.calibration import (
    Calibration,
    calibration_beside,
    packaged,
    read_calibration,
)
from gradegpt.judges.cascade import CascadeJudge, Stage, Thresholds
from gradegpt.judges.code import CodeJudge
from gradegpt.judges.deferred import DeferredJudge
from gradegpt.judges.lexical import LexicalJudge, read_weights
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.panel import PanelJudge, Vote
from gradegpt.judges.parallel import ParallelJudge
from gradegpt.judges.parts import PartsJudge
from gradegpt.judges.parts_model import PartsModelJudge
from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge

OWN: Final = "own"
"""A shipped judge's own adapter; none where the model is not a shipped judge."""


_WITHOUT_MODEL: Final = frozenset(("rules", "lexical", "code"))
_CASCADE_ONLY: Final = ("min_confidence", "stop_confidence", "max_error", "max_false_correct")
_EACH_PART: Final = {"kind": "cascade", "cache": None}
"""The changes to the settings of ``parts`` that give the settings of the judge of each part."""


class JudgeSettings(Settings):
    """The kind of judge, its model and its options.

    ``model`` is a judge by name or folder (``core.shipped``), which has its own adapter, or a
    folder or hub name of a model, which has none. A cascade without one asks no model. With
    ``base_url`` an OpenAI-compatible server is used instead of a local model; several, as a list or
    with commas between them, share the prompts. ``prompt`` defaults to the settings stored with the
    adapter or the model; ``chain_format`` replaces one of these.
    """

    name: str = ""
    kind: Literal["rules", "lexical", "model", "cascade", "panel", "code", "parts"] = "cascade"
    profile: str | None = None
    """Score as this benchmark does; ``kind: rules`` only. See ``gradegpt.rules.profiles``."""
    model: str = ""
    adapter: str | None = OWN
    engine: Literal["auto", "transformers", "onnx", "vllm"] = "auto"
    """What runs a local model: ``auto`` is ``onnx`` for a folder that ``train.export`` wrote, else
    ``transformers``."""
    tensor_parallel: int = Field(default=1, ge=1)
    """With ``engine: vllm`` the GPUs that share one copy of the model."""
    data_parallel: int = Field(default=1, ge=1)
    """With ``engine: vllm`` the number of copies, each on GPUs of its own."""
    base_url: str | tuple[str, ...] | None = None
    prompt: PromptSettings | None = None
    chain_format: ChainFormat | None = None
    shots: str | None = None
    """A file of training rows that are shown, solved, before every item: for an untuned model."""
    max_new_tokens: int = Field(default=384, ge=1)
    min_confidence: float = Field(default=0.75, ge=0, le=1)
    """With ``kind: cascade`` the least measured confidence of a verdict; below it an item is
    undecided. 0 gives every verdict."""
    stop_confidence: float = Field(default=0.97, ge=0, le=1)
    """With ``kind: cascade`` the confidence from which no further judge is asked; a judge that is
    asked may overturn the earlier verdict."""
    max_error: Annotated[float, Field(gt=0, lt=0.5)] | None = None
    """With ``kind: cascade`` a bound on the share of wrong verdicts, which replaces both
    confidences. See ``judges/promise.py``."""
    max_false_correct: Annotated[float, Field(gt=0, lt=0.5)] | None = None
    """With ``max_error`` a bound on the share of wrong ones among the verdicts ``correct``."""
    calibration: Path | None = None
    """The calibration of a judge in a cascade; by default the one beside its weights."""
    weights: Path | None = None
    """With ``kind: lexical`` other weights than the package's, as ``train.lexical`` writes them."""
    judges: tuple[JudgeSettings, ...] = ()
    """With ``kind: cascade`` its judges in order, the cheapest first, by default rules, lexical and
    the model; with ``kind: panel`` the judges that vote; with ``kind: parts`` the judge of each
    part, by default a cascade with the same settings."""
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
    """Threads of a forward pass. With ``kind: code`` the programs that run at a time."""
    device: str | None = None
    constrained: bool = True
    """Local models write chains under their grammar. See ``gradegpt.chains.grammar``."""
    structured_outputs: bool = False
    """With ``base_url``: the server holds the chain to its grammar, by vLLM's parameter of that
    name. See ``gradegpt.chains.grammar``."""
    request: RequestSettings = RequestSettings()
    """With ``base_url``: what a reasoning model needs, such as ``thinking_tokens``."""
    cache: Path | None = None
    """A file that keeps judgements, so that no item is judged twice; see ``judges/cached.py``."""

    @property
    def label(self) -> str:
        """The judge's name in tables."""
        return self.name or self.profile or self.kind

    @property
    def asks_no_model(self) -> bool:
        """Whether the judge is of a kind that uses no model."""
        return self.kind in _WITHOUT_MODEL

    @property
    def takes_several(self) -> bool:
        """Whether several threads may call the judge at a time: a local model takes one batch."""
        return self.asks_no_model or self.base_url is not None or self.engine == "vllm"

    @property
    def rows_at_a_time(self) -> int:
        """Rows to judge per call: enough for all cores or GPUs, or two forward passes."""
        many = self.asks_no_model or self.engine == "vllm"
        return 1_024 * self.data_parallel if many else 2 * self.batch_size


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


def build_alone(settings: JudgeSettings) -> Judge:
    """The same judge, in this process alone."""
    judge = build_judge(settings)
    return judge.inner if isinstance(judge, ParallelJudge) else judge


def on_every_core(judge: Judge, settings: JudgeSettings) -> Judge:
    """The judge for many rows: a cascade that asks no model runs on every core, as the rules do."""
    if isinstance(judge, CascadeJudge) and judge.first_model == len(judge.stages):
        return ParallelJudge(judge, settings=settings.model_dump_json())
    return judge


def missing_kinds(judge: Judge) -> Sequence[str]:
    """The kinds of answers for which the error cannot be promised, and why; see ``Promise``."""
    inner = judge.inner if isinstance(judge, CachedJudge) else judge
    return inner.policy.missing if isinstance(inner, CascadeJudge) else ()


def _judge(settings: JudgeSettings) -> Judge:
    usual = JudgeSettings()
    others = [n for n in _CASCADE_ONLY if getattr(settings, n) != getattr(usual, n)]
    if settings.kind != "cascade" and others:
        raise SettingsError(
            f"{', '.join(others)}: only for the judge 'cascade', whose confidence is "
            f"measured; the judge is {settings.kind!r}"
        )
    if settings.profile is not None:
        if settings.kind != "rules":
            raise SettingsError(f"profile {settings.profile!r}: requires the judge 'rules'")
        return ParallelJudge(ProfileJudge(settings.profile))
    if settings.kind == "rules":
        return ParallelJudge(RuleJudge())
    if settings.kind == "lexical":
        return LexicalJudge(read_weights(settings.weights) if settings.weights else None)
    if settings.kind == "code":
        return CodeJudge(ResourceLimits(settings.seconds, settings.memory_mb), settings.threads)
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
    if settings.one_prompt:  # the reply is longer than a chain, and the constraint is for chains
        given = {"max_new_tokens"} & settings.model_fields_set
        limit = settings.max_new_tokens if given else 1024
        free = settings.model_copy(update={"constrained": False})
        engine = _engine(free, *_folders(free))
        return PartsModelJudge(engine, settings.least, max_new_tokens=limit)
    inner = settings.judges[0] if settings.judges else settings.model_copy(update=_EACH_PART)
    return PartsJudge(build_judge(inner), settings.least)


def _cascade(settings: JudgeSettings) -> CascadeJudge:
    judges = settings.judges or _usual(settings)
    stages = [_stage(one, number) for number, one in enumerate(judges)]
    _check_order(stages)
    if settings.max_error is None:
        if settings.max_false_correct is not None:
            raise SettingsError("max_false_correct: set max_error too, for the other verdicts")
        stop = max(settings.stop_confidence, settings.min_confidence)
        return CascadeJudge(stages, Thresholds(settings.min_confidence, stop))
    try:
        from gradegpt.judges.promise import Promise
    except ImportError as error:
        needed = "install it with pip install 'gradegpt[eval]'"
        raise MissingError(f"max_error: needs scipy; {needed}") from error
    measured = stages[-1].calibration if len(stages) > 1 else _calibration(judges[0])
    promise = Promise(measured, settings.max_error, settings.max_false_correct)
    return CascadeJudge(stages, promise)


def _usual(settings: JudgeSettings) -> tuple[JudgeSettings, ...]:
    """Rules and the model, or the judges after which the model is calibrated, and the model.

    A model that nobody calibrated, such as one behind a URL, decides all that the rules leave open.
    One that was found to know nothing more is left out, unless every verdict is given. Without a
    model: rules and the lexical judge.
    """
    if not (settings.model or settings.base_url or settings.adapter not in (OWN, None)):
        return JudgeSettings(kind="rules"), JudgeSettings(kind="lexical")
    model = settings.model_copy(update={"kind": "model", "cache": None})
    measured = _calibration(model)
    kinds = ("rules",) if measured is None else measured.after
    before = tuple(JudgeSettings.model_validate({"kind": kind}) for kind in kinds)
    adds_nothing = measured is not None and not measured.weights
    return before if adds_nothing and settings.min_confidence > 0 else (*before, model)


def _stage(settings: JudgeSettings, number: int) -> Stage:
    if number == 0 and settings.kind == "rules" and settings.profile is None:
        return Stage(RuleJudge())
    calibration = _calibration(settings) if number else None
    if settings.kind == "model":
        judge: Judge = DeferredJudge(ModelJudge.name, partial(_model_judge, settings))
        return Stage(judge, calibration)
    return Stage(build_judge(settings), calibration)


def _check_order(stages: Sequence[Stage]) -> None:
    """Check that each calibration was measured after the judges that are asked before it here."""
    names = [stage.judge.name for stage in stages]
    for number, stage in enumerate(stages):
        measured = stage.calibration.after if stage.calibration else None
        if measured is not None and list(measured) != names[:number]:
            raise SettingsError(
                f"judges: {names[number]!r} follows {', '.join(names[:number])}, and was "
                f"calibrated after {', '.join(measured) or 'no judge'}; run gradegpt "
                "eval.calibrate for this order"
            )


def _calibration(settings: JudgeSettings) -> Calibration | None:
    """The calibration of a judge: the file of the settings, the package's, or a local model's."""
    if settings.calibration is not None:
        return read_calibration(settings.calibration)
    if settings.kind != "model":
        return packaged(settings.kind)
    if settings.base_url is not None:
        return None
    model, adapter = _folders(settings)
    return calibration_beside(adapter) or calibration_beside(model)


def _folders(settings: JudgeSettings) -> tuple[str, str | None]:
    """The folders or hub names of the base and its adapter.

    Raises:
        SettingsError: no model is named, or one that is no judge.

    """
    if not settings.model or (settings.model == NANO and settings.adapter == OWN):
        what = f"{NANO} is no judge, but a base to train on" if settings.model else "missing"
        raise SettingsError(f"model: {what}; use gradegpt-1.5b, or what gradegpt finetune made")
    own = settings.model if is_judge(settings.model) else None
    wanted = own if settings.adapter == OWN else settings.adapter
    return base_of(settings.model), adapter_of(wanted) if wanted else None


def _model_judge(settings: JudgeSettings) -> ModelJudge:
    from gradegpt.engines.files import prompt_settings_beside

    if settings.base_url is not None and not settings.model:
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
    )


def _engine(settings: JudgeSettings, model: str, adapter: str | None) -> Engine:
    _check_vllm_only(settings)
    if settings.base_url is not None:
        from gradegpt.engines.openai_api import OpenAIEngine

        wanted = settings.model_dump(include={"concurrency", "structured_outputs"})
        return OpenAIEngine(settings.base_url, settings.model, request=settings.request, **wanted)
    from gradegpt.engines.exported import is_exported

    exported = is_exported(model)
    if exported and settings.engine not in ("auto", "onnx"):
        raise SettingsError(f"engine: {model} was exported for 'onnx'; use 'onnx' or 'auto'")
    if exported or settings.engine == "onnx":
        return _fast(settings, model, adapter)
    if settings.engine == "vllm":
        return _vllm(settings, model, adapter)
    from gradegpt.engines.local import LocalEngine

    wanted = settings.model_dump(include={"batch_size", "threads", "device", "constrained"})
    return LocalEngine(model, adapter, **wanted)


def _check_vllm_only(settings: JudgeSettings) -> None:
    """Check that no setting is given which what runs the model would ignore."""
    sizes = [name for name in ("tensor_parallel", "data_parallel") if getattr(settings, name) > 1]
    if sizes and settings.engine != "vllm":
        raise SettingsError(f"{', '.join(sizes)}: only for engine 'vllm'")
    if settings.base_url is not None and settings.engine == "vllm":
        raise SettingsError("engine: 'vllm' runs in this process; leave it out with base_url")
    if settings.base_url is None and settings.structured_outputs:
        raise SettingsError("structured_outputs: only with base_url; see constrained")


def _vllm(settings: JudgeSettings, model: str, adapter: str | None) -> Engine:
    if settings.device is not None:
        use = "choose vLLM's GPUs with the environment variable CUDA_VISIBLE_DEVICES"
        raise SettingsError(f"device: is {settings.device!r}; {use}")
    from gradegpt.engines.vllm import VLLMEngine

    wanted = settings.model_dump(include={"tensor_parallel", "data_parallel", "constrained"})
    return VLLMEngine(model, adapter, **wanted)


def _fast(settings: JudgeSettings, folder: str, adapter: str | None) -> Engine:
    if adapter is not None:
        raise SettingsError(
            "adapter: an exported model takes none; export one that includes it: "
            f"gradegpt export {adapter} -o OUT"
        )
    if settings.device not in (None, "cpu"):
        raise SettingsError(f"device: is {settings.device!r}; an exported model runs on 'cpu'")
    from gradegpt.engines.fast import FastEngine

    return FastEngine(folder, threads=settings.threads, constrained=settings.constrained)
