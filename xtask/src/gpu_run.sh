#!/bin/bash
# Tests and measures Glasscage's engine on the GPU of this machine. Needs no network, no compiler and no root.
#
#   run [RESULTS]     the folder for results is "results" beside this script if none is named
#
# GLASSCAGE_GPU_MINUTES limits the whole (default 8). The most valuable comes first, and each stage writes its result at once, so a run
# that is cut off has saved what it measured. GLASSCAGE_GPU_SMALL=1 takes small models: a trial of this script on a software driver.
set -u
CHECKOUT=/tmp/glasscage-gpu
HERE=$(cd "$(dirname "$0")" && pwd)
RESULTS=${1:-$HERE/results}
mkdir -p "$RESULTS" && RESULTS=$(cd "$RESULTS" && pwd)
LOG=$RESULTS/log.txt
SUMMARY=$RESULTS/summary.txt
BENCH=$RESULTS/bench.jsonl
: >"$LOG" && : >"$SUMMARY" && : >"$BENCH"
END=$((SECONDS + ${GLASSCAGE_GPU_MINUTES:-8} * 60))

mkdir -p "$CHECKOUT"
tar -xJf "$HERE/pack.tar.xz" -C "$CHECKOUT" 2>/dev/null ||
  python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$HERE/pack.tar.xz" "$CHECKOUT" ||
  { echo "the pack cannot be unpacked: this machine has neither xz nor Python" | tee -a "$SUMMARY"; exit 1; }
cd "$CHECKOUT" || exit 1
export PATH=$CHECKOUT/bin:$PATH XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/tmp} RAYON_NUM_THREADS=1 PROPTEST_RNG_SEED=1 RUST_BACKTRACE=0
# Debian's loader, unless the machine has one of its own, and NVIDIA's driver where containers have it.
LOADER=$CHECKOUT/usr/lib/x86_64-linux-gnu
ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' || export LD_LIBRARY_PATH=$LOADER${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
NVIDIA=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
[ -f "$NVIDIA" ] && export VK_DRIVER_FILES=$NVIDIA

# stage NAME SECONDS COMMAND...: runs the command for so long at most, and says how it ended.
stage() {
  local name=$1 limit=$2 left=$((END - SECONDS)) began=$SECONDS
  shift 2
  if [ "$left" -lt 5 ]; then
    echo "$name: not run, the time is over" >>"$SUMMARY"
    return 1
  fi
  echo "== $name: $*" >>"$LOG"
  timeout --kill-after=5 "$((limit < left ? limit : left))" "$@" >>"$LOG" 2>&1
  local status=$?
  echo "$name: exit $status after $((SECONDS - began)) s" | tee -a "$SUMMARY"
  return "$status"
}

# bench NAME MODEL: prefill, decode and the attribution job.
bench() {
  [ -f "$2" ] || { echo "bench $1: there is no model" >>"$SUMMARY"; return; }
  local json=$CHECKOUT/bench.json
  rm -f "$json"
  stage "bench $1" 60 glasscage bench --model "$2" --backend gpu --tokens 1000 --sentences 40 --generated 16 --seconds 2 --json "$json"
  [ -f "$json" ] && tr -d '\n' <"$json" >>"$BENCH" && echo >>"$BENCH"
}

if [ -n "${GLASSCAGE_GPU_SMALL:-}" ]; then MODELS=(42m/Q8_0 42m/Q4_K); else MODELS=(0.6b/Q8_0 0.6b/Q4_K 1b/Q8_0 1b/Q4_K 0.6b/F16 1b/F16); fi
# Made by other cores while the first stages use the GPU.
for model in "${MODELS[@]}"; do
  file=$CHECKOUT/random-${model//\//-}.gguf
  (random_model --shape "${model%/*}" --quant "${model#*/}" "$file.part" && mv "$file.part" "$file") >/dev/null 2>&1 &
done

nvidia-smi >>"$LOG" 2>&1
# (a) Which adapter, and the most that it can do; (b) each kernel against its reference; (c) log-probabilities against float64.
bench "built-in model" public/models/demo.gguf
stage kernels 120 test-engine gpu::
stage "self-test" 30 test-engine self_test
stage architectures 90 test-native architectures
wait
# (e) Speed by shape and tensor type; loading chooses the shapes of the matrix product (d).
for model in "${MODELS[@]}"; do
  bench "$model" "$CHECKOUT/random-${model//\//-}.gguf"
done
# (f) Faults, Stop and pacing; all methods of explaining; a real model.
stage "faults and pacing" 60 test-native gpu:: pace:: batches::
stage stories 60 test-native stories::
stage families 60 test-native families::
echo "the results are in $RESULTS"
