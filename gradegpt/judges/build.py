"""Settings -> a judge: the one builder behind the command line, the evaluation and the server."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from gradegpt.chains.chain import PromptSettings
from gradegpt.core.errors import SettingsError, needs
from gradegpt.core.sandbox import ResourceLimits
from gradegpt.core.schema import ChainFormat
from gradegpt.core.shipped import NANO, adapter_of, base_of, is_judge
from gradegpt.engines.base import Engine
from gradegpt.judges.base import DeferredJudge, Judge
from gradegpt.judges.cached import CachedJudge
from gradegpt.judges.calibration import Calibration, calibration_beside, packaged, read_calibration
from gradegpt.judges.cascade import CascadeJudge, Stage, Thresholds
from gradegpt.judges.code import CodeJudge
from gradegpt.judges.model import ModelJudge
from gradegpt.judges.panel import PanelJudge
from gradegpt.judges.parallel import ParallelJudge
from gradegpt.judges.parts import PartsJudge
from gradegpt.judges.profile import ProfileJudge
from gradegpt.judges.rules import RuleJudge
from gradegpt.judges.settings import (
    KINDS,
    OWN,
    CascadeJudgeSettings,
    CodeJudgeSettings,
    EngineSettings,
    JudgeSettings,
    ModelJudgeSettings,
    PanelJudgeSettings,
    PartsJudgeSettings,
    RuleJudgeSettings,
)

STOP_CONFIDENCE: Final = 0.97
"""The measured confidence from which a cascade asks no further judge; one that is asked may
overturn the earlier verdict."""


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


def on_every_core(judge: Judge, settings: JudgeSettings) -> Judge:
    """The judge for many rows: a cascade that asks no model runs on every core, as the rules do."""
    if isinstance(judge, CascadeJudge) and judge.first_model == len(judge.stages):
        return ParallelJudge(judge, settings=settings.model_dump_json())
    return judge


def missing_kinds(judge: Judge) -> Sequence[str]:
    """The kinds of answers whose verdicts are withheld, and why; see ``Promise``."""
    inner = judge.inner if isinstance(judge, CachedJudge) else judge
    return inner.policy.missing if isinstance(inner, CascadeJudge) else ()


def unasked(settings: JudgeSettings) -> str:
    """That a cascade leaves its model out, as it was found to know nothing more; else empty."""
    if not isinstance(settings, CascadeJudgeSettings) or settings.judges:
        return ""
    if not settings.names_a_model or _usual(settings)[-1].kind == "model":
        return ""
    every = "" if settings.max_error is not None else "; --min-confidence 0 asks it"
    name = settings.model or settings.adapter
    return f"{name} is not asked: its calibration shows no gain for any type of answer{every}"


def _judge(settings: JudgeSettings) -> Judge:
    match settings:
        case RuleJudgeSettings(profile=profile):
            return ParallelJudge(RuleJudge() if profile is None else ProfileJudge(profile))
        case CodeJudgeSettings():
            return CodeJudge(ResourceLimits(settings.seconds))
        case PanelJudgeSettings():
            return PanelJudge([build_judge(judge) for judge in settings.judges])
        case PartsJudgeSettings():
            return PartsJudge(_cascade(settings.shared_with(CascadeJudgeSettings)), settings.least)
        case CascadeJudgeSettings():
            return _cascade(settings)
        case ModelJudgeSettings():
            return _model_judge(settings)
        case _:
            raise SettingsError(f"judge: give the settings of one kind: {', '.join(KINDS)}")


def _cascade(settings: CascadeJudgeSettings) -> CascadeJudge:
    judges = settings.judges or _usual(settings)
    stages = [_stage(one, number) for number, one in enumerate(judges)]
    _check_order(stages)
    if settings.labels is not None:
        if settings.max_error is not None:
            raise SettingsError("labels: no error was measured with them; leave max_error out")
        from gradegpt.judges.neighbours import LabelJudge, NeighbourJudge, after
        from gradegpt.tables.importers.labelled import graded_answers

        mapped = dict(one.split("=", 1) for one in settings.labels_map)
        judge = NeighbourJudge(graded_answers(str(settings.labels), mapped))
        nearest = Stage(judge, after((stage.judge.name for stage in stages), STOP_CONFIDENCE))
        stages = [Stage(LabelJudge(judge)), *stages, nearest]
    if settings.max_error is None:
        stop = max(STOP_CONFIDENCE, settings.min_confidence)
        return CascadeJudge(stages, Thresholds(settings.min_confidence, stop))
    with needs("max_error", "gradegpt[eval]"):
        from gradegpt.judges.promise import Promise
    measured = stages[-1].calibration if len(stages) > 1 else _calibration(judges[0])
    return CascadeJudge(stages, Promise(measured, settings.max_error))


def _usual(settings: CascadeJudgeSettings) -> Sequence[JudgeSettings]:
    """Rules and the model, or the judges after which the model is calibrated, and the model.

    A model that nobody calibrated, such as one behind a URL, decides all that the rules leave open.
    One that was found to know nothing more is left out, unless every verdict is given. Without a
    model: the rules.
    """
    if not settings.names_a_model:
        return (RuleJudgeSettings(),)
    model = settings.shared_with(ModelJudgeSettings)
    measured = _calibration(model)
    after = ("rules",) if measured is None else measured.after
    if gone := [kind for kind in after if kind not in KINDS]:
        raise SettingsError(
            f"{model.model}: calibrated after {', '.join(gone)}, which is no judge; run "
            "gradegpt eval.calibrate again"
        )
    before = [KINDS[kind]() for kind in after]
    adds_nothing = measured is not None and not measured.weights
    return before if adds_nothing and settings.min_confidence > 0 else [*before, model]


def _stage(settings: JudgeSettings, number: int) -> Stage:
    if number == 0 and isinstance(settings, RuleJudgeSettings) and settings.profile is None:
        return Stage(RuleJudge())
    calibration = _calibration(settings) if number else None
    if isinstance(settings, ModelJudgeSettings):
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
    if isinstance(settings, EngineSettings) and settings.calibration:
        return read_calibration(settings.calibration)
    if not isinstance(settings, ModelJudgeSettings):
        return packaged(settings.kind)
    if settings.base_url is not None or settings.shots:
        return None  # a calibration beside weights is of prompts without examples
    model, adapter = _folders(settings)
    return calibration_beside(adapter) or calibration_beside(model)


def _folders(settings: EngineSettings) -> tuple[str, str | None]:
    """The folders or hub names of the base and its adapter, which may name its base itself.

    Raises:
        SettingsError: no model is named, or one that is no judge.

    """
    model, adapter = settings.model, settings.adapter
    if not model and adapter is not None and is_judge(adapter):
        model = adapter
    if not model or (model == NANO and adapter == OWN):
        missing = "missing" if adapter in (OWN, None) else f"missing, and {adapter} names none"
        what = f"{NANO} is no judge, but a base to train on" if model else missing
        raise SettingsError(f"model: {what}; use gradegpt-1.5b, or what gradegpt finetune made")
    own = model if is_judge(model) else None
    wanted = own if adapter == OWN else adapter
    return base_of(model), adapter_of(wanted) if wanted else None


def _model_judge(settings: ModelJudgeSettings) -> ModelJudge:
    from gradegpt.engines.files import prompt_settings_beside

    if settings.base_url is not None and not settings.model:
        raise SettingsError("base_url: set 'model' (--model) too, the model's name on that server")
    model, adapter = _folders(settings)
    prompt = settings.prompt or prompt_settings_beside(adapter) or prompt_settings_beside(model)
    wanted, explain = settings.chain_format, None
    if prompt and (prompt.chain_format is ChainFormat.OUTCOME or prompt.verdict == "first"):
        explain = wanted  # the model writes its tag first or alone, which decides; a chain explains
    elif wanted is not None:
        prompt = (prompt or PromptSettings()).model_copy(update={"chain_format": wanted})
    engine, limit = _engine(settings, model, adapter), settings.max_new_tokens
    shots = settings.shots
    return ModelJudge(engine, prompt, explain=explain, max_new_tokens=limit, shots=shots)


def _engine(settings: EngineSettings, model: str, adapter: str | None) -> Engine:
    if settings.base_url is not None:
        from gradegpt.engines.chat import control_tokens_beside
        from gradegpt.engines.openai_api import OpenAIEngine

        return OpenAIEngine(
            settings.base_url, settings.model, request=settings.request,
            control=control_tokens_beside(adapter) or control_tokens_beside(model),
            concurrency=settings.concurrency, structured_outputs=settings.constrained or False,
        )  # fmt: skip
    from gradegpt.engines.encoder import EncoderEngine, is_for_encoder

    if adapter is not None and is_for_encoder(adapter):
        if settings.chain_format not in (None, ChainFormat.OUTCOME):
            raise SettingsError(f"{adapter}: an encoder writes no chain")
        if settings.shots:
            raise SettingsError(f"{adapter}: an encoder reads no examples; leave shots out")
        return EncoderEngine(model, adapter, batch_size=settings.batch_size)
    from gradegpt.engines.local import LocalEngine

    constrained = settings.constrained is not False
    return LocalEngine(model, adapter, batch_size=settings.batch_size, constrained=constrained)
