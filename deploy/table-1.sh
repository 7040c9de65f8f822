#!/usr/bin/env bash
# From a machine with four GPUs of 80 GB to table 1 of Disco-RAG (Loong). Runs all steps, or those that are named:
#
#     deploy/table-1.sh                                    # all of them; asks before it spends anything
#     deploy/table-1.sh bill                               # one of them
#     OPTIONS="--limit 3 --yes" deploy/table-1.sh run      # more options of `python -m eval experiment`
#
# step    does                                                          needs
# serve   starts the encoder on the last GPU, then the chat model       vLLM (`make vllm` installs it), HF_TOKEN (Llama is gated)
#         on all four; logs in .disco-rag/vllm
# models  fetches the tokenizer in which chunks are counted             the Hugging Face hub
# data    puts Loong into DISCO_RAG_DATA, if it is not there            LOONG: a clone of Loong with its doc.zip
# judge   checks what Loong's judge needs                               OPENAI_API_KEY; JUDGE_PROMPT: its official prompt
# bill    counts calls and tokens                                       the servers; costs nothing
# run     prints the bill, asks, runs the table or resumes it           all of the above
#
# If DISCO_RAG_MODEL is set, as in the eval service of Docker Compose, its servers are used, and `serve` does nothing.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
PYTHON=${PYTHON:-python}
STEPS=${*:-serve models data judge bill run}
JUDGE_URL=${JUDGE_URL:-https://api.openai.com/v1}
JUDGE_MODEL=${JUDGE_MODEL:-gpt-4-turbo-2024-04-09}
JUDGE_KEY=${JUDGE_KEY:-OPENAI_API_KEY}
TABLE=${TABLE:-disco-rag-table-1}
read -ra options <<< "${OPTIONS:-}"
eval_module=eval
[ -d "$here/eval" ] || eval_module=discorag.eval # the image has the installed package only

say() { printf '== %s\n' "$*"; }
stop() {
    printf '%s\n' "$*" >&2
    exit 2
}

own_servers=
if [ -z "${DISCO_RAG_MODEL:-}" ]; then
    [ -f "$here/.env.example" ] || stop "Set DISCO_RAG_MODEL and the other settings of the block 4x80gb of .env.example."
    own_servers=yes
    set -a
    # shellcheck disable=SC1090
    . <(sed -n 's/^#4x80gb //p' "$here/.env.example" | sed 's|//chat:8000|//localhost:8000|; s|//embed:8000|//localhost:8001|; /STORE__PATH/d')
    DISCO_RAG_ENCODER__QUERY_PREFIX=$(printf '%b' "$DISCO_RAG_ENCODER__QUERY_PREFIX")
    set +a
fi

start_server() { # NAME GPUS PORT: a vLLM service of docker-compose.yml, and waits until it answers
    mkdir -p "$here/.disco-rag/vllm"
    say "$1 on GPU $2, port $3; log: .disco-rag/vllm/$1.log"
    CUDA_VISIBLE_DEVICES=$2 HF_HUB_OFFLINE=0 PATH="$here/.venv-gpu/bin:$PATH" \
        "$PYTHON" "$here/deploy/vllm.py" "$1" --port "$3" > "$here/.disco-rag/vllm/$1.log" 2>&1 &
    local server=$!
    until curl --silent --fail --output /dev/null "http://localhost:$3/health"; do
        kill -0 "$server" 2> /dev/null || stop "$1 ended; its log says why."
        sleep 5
    done
}

serve() {
    [ -n "$own_servers" ] || { say "DISCO_RAG_MODEL is set: its servers are used"; return; }
    start_server embed "$EMBED_GPU" 8001 # first: on a shared GPU each measures what memory is left
    start_server chat "$CHAT_GPUS" 8000
}

models() {
    [ -n "${DISCO_RAG_ENCODER__TOKENIZER:-}" ] || { say "The packaged encoder needs nothing"; return; }
    HF_HUB_OFFLINE=0 "$PYTHON" -m discorag models pull "$DISCO_RAG_ENCODER__TOKENIZER" --tokenizer
}

data() {
    [ -n "${DISCO_RAG_DATA:-}" ] || stop "Set DISCO_RAG_DATA to the folder of the data sets."
    if [ -e "$DISCO_RAG_DATA/loong/loong.jsonl" ]; then
        say "Loong is in $DISCO_RAG_DATA"
        return
    fi
    if [ -z "${LOONG:-}" ]; then
        "$PYTHON" -m "$eval_module" data loong
        stop "Set LOONG to a clone of Loong's repository with its doc.zip, or to a folder with loong.jsonl and doc."
    fi
    "$PYTHON" -m "$eval_module" data loong --from "$LOONG"
}

judge() {
    [ -n "${!JUDGE_KEY:-}" ] || stop "Set $JUDGE_KEY to the key of the judge at $JUDGE_URL, or JUDGE_KEY to another variable's name."
    if [ -z "${JUDGE_PROMPT:-}" ]; then
        say "JUDGE_PROMPT is not set: our own wording is used, and scores are not comparable with the paper's"
    elif [ ! -f "$JUDGE_PROMPT" ]; then
        stop "JUDGE_PROMPT is $JUDGE_PROMPT, which is not a file."
    fi
}

experiment() {
    local judged=()
    if [ -n "${!JUDGE_KEY:-}" ]; then
        judged=(--judge-url "$JUDGE_URL" --judge-model "$JUDGE_MODEL" --judge-key "$JUDGE_KEY")
        [ -z "${JUDGE_PROMPT:-}" ] || judged+=(--judge-prompt "$JUDGE_PROMPT")
    fi
    "$PYTHON" -m "$eval_module" experiment "$TABLE" --concurrency "${CONCURRENCY:-16}" "${judged[@]}" "$@" "${options[@]}"
}

bill() { experiment --dry-run; }
run() { experiment; }

for step in $STEPS; do
    case $step in
        serve | models | data | judge | bill | run) say "$step" && "$step" ;;
        *) stop "There is no step '$step'. Steps: serve, models, data, judge, bill, run." ;;
    esac
done
