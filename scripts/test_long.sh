#!/bin/sh
# test_long.sh MAKE BUILD - the slower checks, one after the other, each in a build
# of its own beside BUILD where it needs one. What a machine lacks is named and left out.
set -u

make=$1
build=$2
# shellcheck source=scripts/stages.sh
. scripts/stages.sh

has() { command -v "$1" >/dev/null 2>&1; }
skip() { printf '\nskipped: %s, %s\n' "$1" "$2"; }
suites() { # DIR ARGUMENT...
    directory=$1
    shift
    "$make" -s --no-print-directory BUILD="$directory" "$@" suites
}

stage long "$make" -s --no-print-directory BUILD="$build" suites-long

export ATTN_CPU=generic
stage generic suites "$build" SUITES="\$(ARITHMETIC)"
if grep -q -w avx2 /proc/cpuinfo 2>/dev/null; then
    ATTN_CPU=avx2
    stage avx2 suites "$build" SUITES="\$(ARITHMETIC)"
else
    skip avx2 "not on this processor"
fi
unset ATTN_CPU

if locale -a 2>/dev/null | grep -q -i '^de_DE\.utf-\{0,1\}8$'; then
    stage locale env LC_ALL=de_DE.UTF-8 "$make" -s --no-print-directory BUILD="$build" SUITES="\$(TEXTUAL)" suites
else
    skip locale "there is no de_DE.UTF-8"
fi

if has clang; then
    stage clang suites "$build-clang" CC=clang WERROR=1 SUITES="\$(filter-out \$(LONGEST),\$(ALL))"
else
    skip clang "it is not there"
fi

export CK_TIMEOUT_MULTIPLIER=5 # sanitizers slow a test down several times
# Checked code is quicker built with -O2 and runs as fast. Of what was freed only so much is kept:
# every test looks for leaks when it ends, and goes through all of that.
export ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=4
stage asan-ubsan suites "$build-asan" SANITIZE=address,undefined CFLAGS='-O2 -g1' F64_SUITES= SUITES="\$(filter-out \$(LONGEST),\$(ALL))"
stage tsan suites "$build-tsan" SANITIZE=thread CFLAGS='-O2 -g1' SUITES="\$(THREADED)" F64_SUITES=

if has valgrind; then
    runs=$(mktemp -d)
    stage valgrind valgrind -q --error-exitcode=99 --leak-check=full "$build/train" --steps 3 --out "$runs/run"
    rm -rf "$runs"
else
    skip valgrind "it is not there"
fi

if has cppcheck; then
    # Not for style, which is a matter of taste; the precisions share every line.
    stage cppcheck cppcheck -q --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
        -j "$(getconf _NPROCESSORS_ONLN)" -Iinclude -Isrc -I"$build/gen" -DATTN_DOUBLE src train
else
    skip cppcheck "it is not there"
fi

if has shellcheck; then
    stage shellcheck shellcheck -x scripts/*.sh .ci/run
else
    skip shellcheck "it is not there"
fi

stages_end
