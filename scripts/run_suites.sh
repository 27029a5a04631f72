#!/bin/sh
# run_suites.sh SUITE... - runs test programs side by side, as many as there are
# processors. Of one that passes it shows the number of checks, what it skipped and
# what it measured, of one that fails everything. The last line is "N passed, M failed", in checks; a
# suite that has none, or ends otherwise than its closing line says, is a failed one.
set -u

closing='[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\)'

# Runs one suite; leaves DIR/NAME.log, and "checks failed" in DIR/NAME.sum.
run_one() { # DIR SUITE
    log=$1/$(basename "$2")
    start=$(date +%s)
    "$2" >"$log.log" 2>&1
    code=$?
    seconds=$(($(date +%s) - start))
    read -r checks failures errors <<END
$(sed -n "s/^$closing\$/\1 \2 \3/p" "$log.log" | tail -n 1)
END
    checks=${checks:-0}
    failed=$((${failures:-0} + ${errors:-0}))
    verdict="$checks passed"
    skipped=$(grep '^skipped: ' "$log.log" | sort -u |
        awk 'NR == 1 { first = $0 } END { if (NR) print "    " first (NR > 1 ? " (and " NR - 1 " more)" : "") }')
    measured=$(sed -n 's/^measured: /    /p' "$log.log")
    if [ "$code" != 0 ] || [ "$checks" = 0 ] || [ "$failed" != 0 ]; then
        failed=$((failed > 0 ? failed : 1))
        verdict="FAILED, exit code $code"
        skipped=
        measured=
    fi
    echo "$checks $failed" >"$log.sum"
    printf '%-28s %s, %s s\n%s%s' "$(basename "$2")" "$verdict" "$seconds" "${skipped:+$skipped
}" "${measured:+$measured
}"
}

if [ "${1-}" = --one ]; then # this script, called by xargs below
    run_one "$2" "$3"
    exit 0 # anything else might end xargs early
fi
if [ $# = 0 ]; then
    echo "run_suites.sh: no suites" >&2
    exit 1
fi
# A sanitizer's allocator then says no as the C library's does.
export ASAN_OPTIONS="${ASAN_OPTIONS-allocator_may_return_null=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS-allocator_may_return_null=1}"
logs=$(mktemp -d) || exit 1
trap 'rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM

printf '%s\n' "$@" | xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN || echo 1)" "$0" --one "$logs"

passed=0
failed=0
for suite in "$@"; do
    log=$logs/$(basename "$suite")
    read -r checks bad 2>/dev/null <"$log.sum" || { checks=0 && bad=1; }
    failed=$((failed + bad))
    passed=$((passed + (checks > bad ? checks - bad : 0)))
    [ "$bad" = 0 ] || { printf '\n%s:\n' "$suite" && cat "$log.log"; }
done
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
