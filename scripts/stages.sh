# shellcheck shell=sh
# stages.sh - for scripts that run several commands and add up what they report.
#
# stage NAME COMMAND... runs a command and counts its closing line, the last
# "N passed, M failed"; one without counts as one check, by its exit code.
# stages_end prints the sum as the last line; it fails when anything did.

passed=0
failed=0
broken=
stage_log=$(mktemp) || exit 1
trap 'rm -f "$stage_log" "$stage_log.code"' EXIT
trap 'exit 130' INT TERM

stage() {
    stage_name=$1
    shift
    printf '\n=== %s: %s\n' "$stage_name" "$*"
    # What tee returns is not what the command did.
    { "$@"; echo $? >"$stage_log.code"; } 2>&1 | tee "$stage_log"
    stage_code=$(cat "$stage_log.code")
    # shellcheck disable=SC2046
    set -- $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$stage_log" | tail -n 1)
    if [ $# = 0 ]; then
        set -- $((stage_code == 0)) $((stage_code != 0))
    elif [ "$stage_code" != 0 ] && [ "$2" = 0 ]; then
        set -- "$1" 1
    fi
    passed=$((passed + $1))
    failed=$((failed + $2))
    [ "$2" = 0 ] || broken="$broken $stage_name"
}

stages_end() {
    echo
    [ -z "$broken" ] || echo "failed:$broken"
    printf '%s passed, %s failed\n' "$passed" "$failed"
    [ "$failed" = 0 ]
}
