"""Export a judge for the fast CPU engine.

    gradegpt export judges/mine -o runs/mine-fast

An adapter is first merged into its base; with ``--merged`` the result is that model, for servers
that do not load adapters. Otherwise the result is a folder for ``gradegpt judge --model`` that
needs neither torch nor transformers: an ONNX model with its weights, tokenizer and chat template,
the prompt settings, and a manifest.

Before the folder appears, both engines answer the built-in prompts. In float32 they must write the
same texts; quantized, the same verdicts (or, where there is none, the same texts). Three in four
must agree: a near tie between two tokens may be decided either way, and a wrong conversion fails on
nearly all prompts.
"""

from __future__ import annotations

import gc
import io
import json
import logging
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gradegpt.app import options
from gradegpt.app.cli import run
from gradegpt.chains.chain import PromptSettings, build_prompt, parse_chain
from gradegpt.core.errors import EngineError, MissingError, SettingsError
from gradegpt.core.records import sha256_file, whole_folder, write_json
from gradegpt.core.schema import Item, Message
from gradegpt.core.shipped import adapter_of, base_named_by, base_of
from gradegpt.engines.base import Engine, Generation
from gradegpt.engines.chat import end_token_ids, render_chat
from gradegpt.engines.encoder import is_for_encoder
from gradegpt.engines.exported import (
    ENGINE_FILE,
    MODEL_FILE,
    TEMPLATE_FILE,
    WANTED_FROM,
    ExportedTokenizer,
    ExportSettings,
    ModelShape,
)
from gradegpt.engines.fast import FastEngine
from gradegpt.engines.files import PROMPT_FILE, prompt_settings_beside
from gradegpt.engines.local import LocalEngine, quiet_start
from gradegpt.judges.calibration import CALIBRATION_FILE

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

SUPPORTED: Final = ("llama", "mistral", "phi3", "qwen2", "qwen3")
"""Architectures (``model_type``) whose conversion the tests compare with transformers."""
ENOUGH: Final = 0.75
"""The share of built-in prompts on which the engines must agree."""
_MAX_NEW_TOKENS: Final = 200
_ADAPTER: Final = "adapter_model.safetensors"
_PACKAGES: Final = ("onnxruntime", "onnxruntime-genai", "transformers")
_ONE_FILE: Final = 2**30
"""The most bytes of weights inside the model's own file, as the size of an ONNX file is limited."""


class Quantization(StrEnum):
    """How the matrices are stored and multiplied; with int8, inputs are scaled in every pass.

    int4 stores each matrix in an eighth of float32's size, in blocks of 32 with a scale each (the
    embedding stays float32): as fast as int8 in decoding, half as fast in reading a prompt.
    """

    INT8 = "int8"
    INT4 = "int4"
    FLOAT32 = "float32"


def export(
    source: Path | str,
    out: Path,
    *,
    base: str = "",
    quantization: Quantization = Quantization.INT8,
    check: int = 8,
) -> dict[str, Any]:
    """Write ``source``, an adapter or a whole model, to ``out``; return the manifest.

    ``base``: the adapter's base, a folder or hub name; empty uses the base that the adapter names.
    ``check``: the number of built-in prompts that both engines answer first.

    Raises:
        MissingError: the source or a package is missing.
        OutputError: ``out`` already exists.
        EngineError: the source does not load, its architecture is not supported, or the exported
            judge disagrees with the source.

    """
    folder = Path(adapter_of(str(source)))
    is_adapter = (folder / "adapter_config.json").is_file()
    if base and not is_adapter:
        raise SettingsError(f"base: {folder} is a whole model; leave base out, or give an adapter")
    with whole_folder(out) as made:
        model = made.with_name(f"{out.name}-merged") if is_adapter else folder
        merged = merge(folder, model, base, "float32") if is_adapter else {}
        _convert(model, made, quantization)
        manifest = {
            "stage": "train.export",
            "source": folder.resolve().name,
            **({"base": merged["base"]} if merged else {}),
            "digests": _digests(folder),
            "weights": {p.name: sha256_file(p) for p in sorted(made.glob(f"{MODEL_FILE}*"))},
            "quantization": quantization.value,
            "check": _compare(model, made, quantization, check),
            "versions": {package: metadata.version(package) for package in _PACKAGES},
        }
        write_json(made / "manifest.json", manifest)
    return manifest


def merge(adapter: Path, out: Path, base: str = "", dtype: str = "bfloat16") -> dict[str, Any]:
    """Write base and adapter as one model to ``out``; return the manifest.

    ``base``: a folder or hub name; empty uses the base that the adapter names. ``dtype``: the type
    of the written weights; they are added in float32.

    Raises:
        MissingError: the adapter or its prompt settings are missing.
        OutputError: ``out`` already exists.
        EngineError: the base does not load, or the adapter does not fit it.

    """
    settings = adapter / "adapter_config.json"
    for path in (settings, adapter / _ADAPTER, adapter / PROMPT_FILE):
        if not path.is_file():
            raise MissingError(f"{path}: does not exist; give an adapter's folder from training")
    named = base or json.loads(settings.read_text(encoding="utf-8"))["base_model_name_or_path"]
    source = base_of(base) if base else base_named_by(adapter)
    manifest = {
        "stage": "train.export",
        "base": named,
        "adapter": sha256_file(adapter / _ADAPTER),
        "dtype": dtype,
    }
    with whole_folder(out) as made:
        model, tokenizer = _load(source, adapter)
        import torch

        model.to(getattr(torch, dtype)).save_pretrained(made)
        tokenizer.save_pretrained(made)
        copy_settings(adapter, made)
        write_json(made / "manifest.json", manifest)
    return manifest


def copy_settings(source: Path, target: Path) -> None:
    """Copy the files that belong beside the weights: prompt settings and calibration."""
    for name in (PROMPT_FILE, CALIBRATION_FILE):
        if (source / name).is_file():
            shutil.copyfile(source / name, target / name)


def _load(base: str, adapter: Path) -> tuple[Any, Any]:
    quiet_start()
    if is_for_encoder(str(adapter)):
        raise SettingsError(
            f"{adapter}: is for an encoder, which is not exported; use the folder as it is"
        )
    import torch
    from peft import PeftModel
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(base)
        model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
        merged = PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise EngineError(
            f"{adapter}: does not fit its base {base}: {str(error).splitlines()[0]}"
        ) from error
    return merged, tokenizer


def _digests(folder: Path) -> dict[str, str]:
    """The digests of the source's weights and tokenizer."""
    files = (path for glob in ("*.safetensors", "tokenizer.json") for path in folder.glob(glob))
    return {path.name: sha256_file(path) for path in sorted(files)}


def _convert(model: Path, made: Path, quantization: Quantization) -> None:
    """Write weights, tokenizer, chat template and prompt settings of ``model`` for the engine."""
    _check_source(model)
    quiet_start()
    try:
        from onnxruntime_genai.models import builder
    except ImportError as error:
        raise MissingError("the export needs: pip install 'gradegpt[export]'") from error
    from transformers import AutoTokenizer

    with tempfile.TemporaryDirectory(dir=made.parent) as work:
        try:
            tokenizer = AutoTokenizer.from_pretrained(model)
            what = ("", str(model), work, "fp32", "cpu", work)
            with _quiet():
                builder.create_model(*what, **builder.parse_extra_options(*what, []))
        except (OSError, ValueError, RuntimeError, KeyError, NotImplementedError) as error:
            raise EngineError(f"{model}: does not convert: {str(error).splitlines()[0]}") from error
        _save(Path(work), made / MODEL_FILE, quantization)
        sizes = json.loads((Path(work) / "genai_config.json").read_text(encoding="utf-8"))["model"]
    settings = ExportSettings(
        quantization=quantization.value,
        shape=ModelShape(
            layers=sizes["decoder"]["num_hidden_layers"],
            kv_heads=sizes["decoder"]["num_key_value_heads"],
            head_size=sizes["decoder"]["head_size"],
            context=sizes["context_length"],
        ),
        end_token_ids=end_token_ids(tokenizer),
        special_tokens=tokenizer.special_tokens_map,
    )
    write_json(made / ENGINE_FILE, settings.model_dump(mode="json"))
    (made / TEMPLATE_FILE).write_text(tokenizer.get_chat_template(), encoding="utf-8")
    (made / "tokenizer.json").write_text(tokenizer.backend_tokenizer.to_str(), encoding="utf-8")
    copy_settings(model, made)
    _check_rendering(tokenizer, ExportedTokenizer(made, settings.special_tokens))


def _save(built: Path, out: Path, quantization: Quantization) -> None:
    """Write the built model, quantized if requested, with logits for the wanted tokens only."""
    import onnx

    gc.collect()  # the builder leaves cyclic garbage as large as the model
    whole = built / "wanted.onnx"
    graph = onnx.load(built / MODEL_FILE, load_external_data=False)
    _add_logits_input(graph)
    onnx.save(graph, whole)  # the weights stay in their own file
    large = sum(path.stat().st_size for path in built.glob(f"{MODEL_FILE}*")) > _ONE_FILE
    if quantization is Quantization.INT8:
        _quantize(whole, out, large)
        return
    graph = onnx.load(whole)
    if quantization is Quantization.INT4:
        graph = _blockwise(graph)
        large = graph.ByteSize() > _ONE_FILE
    onnx.save(graph, out, save_as_external_data=large, location=f"{out.name}.data")


def _quantize(whole: Path, out: Path, large: bool) -> None:
    """Quantize matrices to eight bits, with a scale per row, and the activations, too."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # The input of down_proj, a product of two activations, has outliers too large for one common
    # scale. DefaultTensorType: tensors of unknown type in the builder's operators are float.
    nodes = onnx.load(whole, load_external_data=False).graph.node
    kept = [node.name for node in nodes if "down_proj" in node.name]
    with _quiet():
        quantize_dynamic(
            whole, out, op_types_to_quantize=["MatMul"], per_channel=True, nodes_to_exclude=kept,
            weight_type=QuantType.QInt8, use_external_data_format=large,
            extra_options={"MatMulConstBOnly": True, "DefaultTensorType": onnx.TensorProto.FLOAT},
        )  # fmt: skip


def _blockwise(graph: Any) -> Any:
    """Quantize the matrices to four bits and the activations to eight."""
    from onnxruntime.quantization.matmul_nbits_quantizer import (
        DefaultWeightOnlyQuantConfig,
        MatMulNBitsQuantizer,
    )

    config = DefaultWeightOnlyQuantConfig(
        block_size=32, is_symmetric=True, accuracy_level=4, bits=4
    )
    quantizer = MatMulNBitsQuantizer(graph, algo_config=config)
    with _quiet():
        quantizer.process()
    return quantizer.model.model


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the libraries' progress output."""
    logging.disable(logging.WARNING)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(logging.NOTSET)


def _add_logits_input(model: Any) -> None:
    """Add an input that names the first token with logits: of a prompt only the last one matters.

    After the last attention each token is computed separately, so the tensors are cut there.
    """
    from onnx import TensorProto, helper

    graph = model.graph
    graph.input.append(helper.make_tensor_value_info(WANTED_FROM, TensorProto.INT64, [1]))
    for name, value in (("wanted_to", 2**62), ("wanted_axis", 1)):
        graph.initializer.append(helper.make_tensor(name, TensorProto.INT64, [1], [value]))
    nodes = list(graph.node)
    last = max(n for n, node in enumerate(nodes) if node.op_type == "GroupQueryAttention")
    before = {
        out for node in nodes[: last + 1] if node.op_type != "Constant" for out in node.output
    }
    cut: dict[str, str] = {}
    for node in nodes[last + 1 :]:
        for n, name in enumerate(node.input):
            if name and name in before:
                cut[name] = f"{name}/wanted"
                node.input[n] = cut[name]
    for n, (name, short) in enumerate(cut.items()):
        given = [name, WANTED_FROM, "wanted_to", "wanted_axis"]
        graph.node.insert(last + 1 + n, helper.make_node("Slice", given, [short]))


def _check_source(model: Path) -> None:
    config = model / "config.json"
    if not config.is_file():
        raise MissingError(
            f"{config}: does not exist; give a model's folder, or an adapter's folder from training"
        )
    kind = json.loads(config.read_text(encoding="utf-8")).get("model_type")
    if kind not in SUPPORTED:
        raise EngineError(
            f"{config}: model_type {kind!r} cannot be exported; supported: {', '.join(SUPPORTED)}. "
            "Serve it with vLLM or llama.cpp and set 'base_url', or keep the transformers engine"
        )


def _check_rendering(tokenizer: Any, exported: ExportedTokenizer) -> None:
    """Check that every built-in prompt has the same text and token ids as in transformers."""
    for prompt in builtin_prompts(PromptSettings()):
        text = render_chat(tokenizer, prompt)
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        if render_chat(exported, prompt) != text or exported.encode(text) != ids:
            raise EngineError(
                f"{tokenizer.name_or_path}: its chat template or tokenizer is not supported by the "
                "fast engine; use the transformers engine"
            )


def _compare(model: Path, made: Path, quantization: Quantization, count: int) -> dict[str, int]:
    """The numbers of built-in prompts on which the engines agree.

    Raises:
        EngineError: the engines agree on too few.

    """
    prompts = builtin_prompts(prompt_settings_beside(str(model)) or PromptSettings())[:count]
    pairs = list(
        zip(
            _texts(LocalEngine(str(model), device="cpu"), prompts),
            _texts(FastEngine(str(made)), prompts),
            strict=True,
        )
    )
    texts = sum(one == other for one, other in pairs)
    verdicts = sum(one == other or _same_verdict(one, other) for one, other in pairs)
    agreed = texts if quantization is Quantization.FLOAT32 else verdicts
    if agreed < ENOUGH * len(pairs):
        what = "texts" if quantization is Quantization.FLOAT32 else "verdicts"
        raise EngineError(
            f"{model}: exported as {quantization}, it gives the same {what} on only {agreed} of "
            f"{len(pairs)} built-in prompts; nothing was written. "
            "Try --quantization float32, or use the transformers engine"
        )
    return {"prompts": len(pairs), "equal_texts": texts, "equal_verdicts": verdicts}


def _same_verdict(one: str, other: str) -> bool:
    a, b = parse_chain(one).chain, parse_chain(other).chain
    return a is not None and b is not None and a.verdict is b.verdict


def _texts(engine: Engine, prompts: Sequence[Sequence[Message]]) -> list[str]:
    texts = []
    for made in engine.generate(prompts, max_new_tokens=_MAX_NEW_TOKENS):
        if not isinstance(made, Generation):
            raise made
        texts.append(made.text)
    return texts


def builtin_prompts(settings: PromptSettings) -> list[tuple[Message, ...]]:
    """The prompts that both engines answer: both languages, right, wrong and nothing to grade."""
    return [
        build_prompt(Item(question=question, reference=(reference,), response=response), settings)
        for question, reference, response in _ITEMS
    ]


_ITEMS: Final = (
    ("How many legs do three spiders have?", "24", "Eight each.\nSo they have 24 legs."),
    ("How many legs do three spiders have?", "24", "Six each.\nSo they have 18 legs."),
    ("一个正方形的边长是 9 厘米，面积是多少？", "81", "9×9=81。\n所以面积是 81 平方厘米。"),
    ("一个正方形的边长是 9 厘米，面积是多少？", "81", "4×9=36。\n所以答案是 36。"),
    ("Which gas do plants take in? (A) oxygen (B) carbon dioxide", "B", "The answer is B."),
    ("下列哪个是质数？A. 21 B. 27 C. 29 D. 33", "C", "21、27、33 都是 3 的倍数，选 A。"),
    ("Solve x^2=49 for x>0.", "x=7", "I am not able to answer this."),
    ("Write 3/8 as a decimal.", "0.375", "Dividing, we find \\boxed{0.375}."),
    ("今天星期二，10 天后星期几？", "星期五", "10÷7 余 3，所以是星期五。"),
    ("Simplify 2(x+3)-x.", "x+6", "2x+6-x, so the result is $x+6$."),
    ("Is 91 prime?", "no", "It is prime, since no small number divides it. Yes."),
    ("求 5 的阶乘。", "120", "5×4×3×2×1=100，因此答案是 100。"),
)


@app.command(epilog="Then: gradegpt judge answers.jsonl -o out.jsonl --model runs/mine-fast")
def main(
    source: Annotated[
        str,
        typer.Argument(
            metavar="ADAPTER_OR_MODEL",
            help="The judge: the folder of an adapter or of a whole model, or the name of a "
            "shipped judge, such as gradegpt-1.5b.",
        ),
    ],
    old: Annotated[Path | None, typer.Argument(hidden=True)] = None,
    output: Annotated[Path | None, options.output("A new folder.", "FOLDER")] = None,
    base: Annotated[
        str,
        typer.Option(help="The adapter's base model, if it is not the one that the adapter names."),
    ] = "",
    quantization: Annotated[
        Quantization,
        typer.Option(help="int8: the fastest. int4: the smallest. float32: exact."),
    ] = Quantization.INT8,
    check: Annotated[
        int,
        typer.Option(
            min=1,
            max=len(_ITEMS),
            help="The number of built-in prompts on which the export is compared with its source.",
        ),
    ] = 8,
    merged: Annotated[
        bool,
        typer.Option(
            "--merged",
            help="Write adapter and base as one model in bfloat16 instead, for servers that do not "
            "load adapters.",
        ),
    ] = False,
) -> None:
    """Export a judge for the fast CPU engine (ONNX Runtime).

    Before OUT is written, the export is compared with the judge on built-in prompts.
    """
    out = options.required(output, old)
    if merged:
        written = merge(Path(adapter_of(source)), out, base)
        typer.echo(f"wrote {out}: {written['base']} with its adapter, bfloat16")
        return
    manifest = export(source, out, base=base, quantization=quantization, check=check)
    agreed = manifest["check"]
    typer.echo(
        f"wrote {out}: {manifest['source']}, {quantization}; of {agreed['prompts']} prompts "
        f"{agreed['equal_texts']} equal texts, {agreed['equal_verdicts']} equal verdicts"
    )


if __name__ == "__main__":
    run(app, name="gradegpt export")
