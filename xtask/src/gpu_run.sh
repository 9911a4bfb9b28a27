#!/bin/bash
# Tests and measures Glasscage's engine on the GPU of this machine. Needs no network, no compiler and no root.
#
#   run [--again] [RESULTS]     the folder for results is "results" beside this script if none is named, or "results-again"
#
# Takes eight minutes at most. A second run, --again, takes three and repeats what a change of the engine can change: correctness of the
# kernels, their shapes, and speed. The most valuable comes first, and each stage writes its result at once, so a run that is cut off has
# saved what it measured. GLASSCAGE_GPU_MINUTES sets another limit. GLASSCAGE_GPU_SMALL=1 takes small models and a small job, and gives
# each stage sixteen times as long and the run two hours: a trial of this script on a software driver.
#
# Results:
#   summary.txt     how each stage ended
#   adapter.jsonl   the GPU, its limits, features and peak throughput; what it does when its memory is full
#   bench.jsonl     a line per model: prefill, decode, job, the parts of the peak that they reach, calls, Stop
#   profile.jsonl   for some models, the time of each kernel
#   log.txt         the output of all programs
set -u
CHECKOUT=/tmp/glasscage-gpu
HERE=$(cd "$(dirname "$0")" && pwd)
AGAIN=
[ "${1:-}" = --again ] && AGAIN=-again && shift
RESULTS=${1:-$HERE/results$AGAIN}
mkdir -p "$RESULTS" && RESULTS=$(cd "$RESULTS" && pwd)
LOG=$RESULTS/log.txt
SUMMARY=$RESULTS/summary.txt
ADAPTER=$RESULTS/adapter.jsonl
BENCH=$RESULTS/bench.jsonl
PROFILE=$RESULTS/profile.jsonl
for file in "$LOG" "$SUMMARY" "$ADAPTER" "$BENCH" "$PROFILE"; do : >"$file" || exit 1; done
MINUTES=8
[ -n "$AGAIN" ] && MINUTES=3
SLOWER=1

# Models as SHAPE/TYPE, those that are profiled, and the memory to fill, in GiB.
MODELS=(0.6b/Q8_0 0.6b/Q4_K 1b/Q8_0 1b/Q4_K 0.6b/Q6_K 1b/Q6_K 0.6b/F16 1b/F16)
PROFILED=" 0.6b/Q8_0 1b/Q4_K "
FILL=256
JOB=(--tokens 400 --sentences 20 --generated 8 --seconds 2)
[ -n "$AGAIN" ] && MODELS=(0.6b/Q8_0 1b/Q4_K 0.6b/Q4_K 1b/Q8_0)
if [ -n "${GLASSCAGE_GPU_SMALL:-}" ]; then
  MODELS=(42m/Q8_0 42m/Q4_K 42m/Q6_K 42m/F16) PROFILED=" 42m/Q8_0 " FILL=1 SLOWER=16 MINUTES=120
  JOB=(--tokens 60 --sentences 6 --generated 2 --seconds 1)
fi
END=$((SECONDS + ${GLASSCAGE_GPU_MINUTES:-$MINUTES} * 60))

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
  local name=$1 limit=$(($2 * SLOWER)) left=$((END - SECONDS)) began=$SECONDS
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

# adapter NAME SECONDS OPTION...: `glasscage gpu`, each line of which is kept as soon as it is printed.
adapter() {
  local name=$1 limit=$2
  shift 2
  # shellcheck disable=SC2016
  stage "$name" "$limit" bash -c 'file=$1; shift; glasscage gpu "$@" >>"$file"' adapter "$ADAPTER" "$@"
}

# bench NAME MODEL [profile]: prefill, decode and the attribution job; then the time of each kernel.
bench() {
  [ -f "$2" ] || { echo "bench $1: there is no model" >>"$SUMMARY"; return; }
  local json=$CHECKOUT/bench.json profile=$CHECKOUT/profile.jsonl options=(--backend gpu "${JOB[@]}")
  rm -f "$json" "$profile"
  [ -n "${3:-}" ] && options+=(--profile "$profile")
  stage "bench $1" 60 glasscage bench --model "$2" "${options[@]}" --json "$json"
  [ -f "$json" ] && tr -d '\n' <"$json" >>"$BENCH" && echo >>"$BENCH"
  [ -f "$profile" ] && cat "$profile" >>"$PROFILE"
  [ -f "$json" ] && sed -n 's/^ *"stop_seconds": *\([0-9.e-]*\),*$/  Stop takes effect after \1 s; the goal is 0.5/p' "$json" >>"$SUMMARY"
}

# Made by other cores while the first stages use the GPU.
MAKERS=()
for model in "${MODELS[@]}"; do
  file=$CHECKOUT/random-${model//\//-}.gguf
  [ -f "$file" ] && continue
  random_model --shape "${model%/*}" --quant "${model#*/}" "$file" >>"$LOG" 2>&1 &
  MAKERS+=($!)
done

nvidia-smi >>"$LOG" 2>&1
# (a) Which adapter, and the most that it can do; (b) each kernel against its reference. The tests that inject faults are skipped: they
# compile hundreds of kernels and say nothing about the GPU.
adapter adapter 30
stage kernels 100 test-engine gpu:: --skip gpu::self_test::fault_tests
# (c) Log-probabilities of all architectures against float64.
[ -z "$AGAIN" ] && stage architectures 60 test-native architectures
bench "built-in model" public/models/demo.gguf
[ "${#MAKERS[@]}" -gt 0 ] && wait "${MAKERS[@]}"
# (e) Speed by shape and tensor type. Loading measures and chooses the shapes of the matrix product (d). (g) The time of each kernel.
for model in "${MODELS[@]}"; do
  profile=
  [[ $PROFILED == *" $model "* ]] && profile=profile
  bench "${model}" "$CHECKOUT/random-${model//\//-}.gguf" "$profile"
done
if [ -z "$AGAIN" ]; then
  # (f) A lost device, submissions of bounded time and Stop between them (gpu::device_lost_*, pace::stop_*), the same bits at any pace and
  # in any batch; full memory. Then all methods of explaining on a real model, and all families.
  stage "faults and pacing" 60 test-native gpu:: pace:: batches::
  adapter "full memory" 30 --fill "$FILL"
  stage stories 60 test-native stories::
  stage families 60 test-native families::
fi
echo "the results are in $RESULTS"
