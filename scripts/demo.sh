#!/usr/bin/env bash
# The whole pipeline on the built-in base and built-in data, in under five minutes on two cores, without network.
# Each step is a command that you can type yourself; outputs go to data/demo and runs/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

rm -rf runs/demo data/demo

step "1/5  generate a few thousand judge rows from the bank and parametric problems"
gradegpt data configs/data_gen/demo.yaml

step "2/5  put a LoRA adapter on the built-in base"
gradegpt train configs/train/demo.yaml

step "3/5  measure rules, untuned base, tuned base and cascade on 192 hand-labelled answers"
gradegpt eval configs/eval/demo.yaml

step "4/5  start the server"
log=runs/demo/serve.log
gradegpt serve configs/serve/demo.yaml >"$log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 120); do
  grep -q http://127.0.0.1:8017 "$log" && break
  kill -0 "$server" 2>/dev/null || { cat "$log"; exit 1; }
  sleep 0.5
done
cat "$log"

step "5/5  judge one Chinese and one English answer through the openai client"
python scripts/ask.py http://127.0.0.1:8017/v1

kill -TERM "$server"
wait "$server"
trap - EXIT
step "done: the server stopped cleanly; open runs/demo/eval/report.html in a browser"
