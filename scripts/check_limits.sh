#!/bin/sh
# check_limits.sh - files up to 400 lines, functions up to 60, no two sources of one name.
# Run it in the project's root; it prints what is wrong and then exits 1.
set -u

files=$(find src include train tests scripts Makefile .ci \
    -name '*.[ch]' -o -name '*.sh' -o -name '*.gp' -o -name '*.mk' -o -name Makefile -o -path .ci/run)
sources=$(printf '%s\n' "$files" | grep '\.c$' | sort)
code=$(printf '%s\n' "$files" | grep '\.[ch]$')

# Our style starts a function's body with { and ends it with } in the first column.
# shellcheck disable=SC2086
problems=$(
    awk 'FNR == 401 { print FILENAME ": more than 400 lines" }' $files
    awk '
    FNR == 1 { start = 0 }
    /^\{/ { start = FNR }
    /^\}/ { if (start && FNR - start + 1 > 60) print FILENAME ":" start ": a function of " FNR - start + 1 " lines, more than 60"; start = 0 }' \
        $code
    printf '%s\n' $sources | sed 's|.*/||' | sort | uniq -d | sed 's|$|: two sources have this name|')

if [ -n "$problems" ]; then
    printf '%s\n' "$problems" >&2
    exit 1
fi
echo "limits: files up to 400 lines, functions up to 60, no name twice"
