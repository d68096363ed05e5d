#!/usr/bin/env bash
# What a GPU has to show, in twelve minutes, on a machine with torch and transformers and without network:
#   pip wheel -w wheels . trl peft datasets accelerate bitsandbytes llguidance && rm -f wheels/{torch,transformers,nvidia,triton}*   before, elsewhere
#   scripts/gpu.sh | tee gpu.jsonl        five steps of each recipe from 0.6B to 14B, and the local engine
#   scripts/gpu.sh --tiny qwen3-0.6b      a dry run on any machine
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONPATH=$PWD PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
python=${PYTHON:-python3}
[ ! -d wheels ] || "$python" -m pip install --quiet --no-index --no-deps wheels/*.whl
exec timeout 720 "$python" -W ignore -m benchmarks.gpu "$@"
