#!/bin/sh
# check_format.sh - every C file is as clang-format would write it. Releases of
# clang-format differ in details, so only the one that the project uses counts.
# Run it in the project's root; it prints what is wrong and then exits 1.
set -u

release=14
formatter=
for name in clang-format-$release clang-format; do
    case $($name --version 2>/dev/null) in
    *"version $release."*) formatter=$name && break ;;
    esac
done
if [ -z "$formatter" ]; then
    echo "format: skipped, clang-format $release is not there"
    exit 0
fi
if ! said=$(find src include train tests -name '*.[ch]' -exec "$formatter" --dry-run -Werror {} + 2>&1); then
    # The first place in each file; clang-format -i FILE mends them all.
    printf '%s\n' "$said" | grep '[Ee]rror' | sort -t : -k 1,1 -u >&2
    exit 1
fi
echo "format: as clang-format $release writes it"
