#!/usr/bin/env bash
# Fine-tune a judge on built-in labelled answers, measure it, serve it and ask it: without network, in under
# five minutes on two cores. Each step is a command that you can type yourself; the judge goes to judges/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

rm -rf judges/demo judges/demo-rows

step "1/4  fine-tune the small built-in base on labelled answers, and measure it"
gradegpt finetune train/data/policy.csv --base nano --format tag sft.num_train_epochs=3 -o judges/demo

step "2/4  serve the judge"
log=judges/demo/serve.log
# What step 4 shows is made while the server starts.
gradegpt data labelled path=train/data/policy.csv 'readings=[train/data/policy_readings.jsonl]' out=judges/demo-rows >judges/demo/rows.txt &
rows=$!
gradegpt serve judges/demo port=8017 >"$log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 120); do
  grep -q http://127.0.0.1:8017 "$log" && break
  kill -0 "$server" 2>/dev/null || { cat "$log"; exit 1; }
  sleep 0.5
done
cat "$log"

step "3/4  ask it about one Chinese and one English answer through the openai client"
python scripts/ask.py http://127.0.0.1:8017/v1

kill -TERM "$server"
wait "$server"
trap - EXIT
step "4/4  what a judge that says why is taught: the same answers with chains in both languages"
wait "$rows"
cat judges/demo/rows.txt
echo "a judge that writes such chains: the command of step 1 with data.readings=[train/data/policy_readings.jsonl], without --format tag"

step "done: the server stopped cleanly; open judges/demo/report.html in a browser"
