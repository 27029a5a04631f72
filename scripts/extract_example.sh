#!/bin/sh
# extract_example.sh FILE LANGUAGE [N] - prints the N-th (first) block of a Markdown
# file that stands between ```LANGUAGE and ```. Exits 1 when there is none.
set -u

file=${1:?usage: extract_example.sh FILE LANGUAGE [N]}
language=${2:?usage: extract_example.sh FILE LANGUAGE [N]}
awk -v fence="\`\`\`$language" -v wanted="${3:-1}" '
    inside && /^```$/ { exit }
    inside { print }
    $0 == fence && ++n == wanted { inside = 1 }
    END { exit !inside }' "$file"
