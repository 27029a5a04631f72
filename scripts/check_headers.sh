#!/bin/sh
# check_headers.sh - every public header compiles alone, in both precisions, as
# C11 and as C++11, with each compiler that is there; none includes <tgmath.h>.
# Run it in the project's root; it prints what is wrong and then exits 1.
set -u

jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
compilers=
for compiler in gcc:-xc:-std=c11 clang:-xc:-std=c11 g++:-xc++:-std=c++11 clang++:-xc++:-std=c++11; do
    command -v "${compiler%%:*}" >/dev/null 2>&1 && compilers="$compilers $compiler"
done
if [ -z "$compilers" ]; then
    echo "headers: neither gcc nor clang is there" >&2
    exit 1
fi

bad=0
if grep -l '^[ 	]*#[ 	]*include[ 	]*<tgmath.h>' include/attn/*.h >&2; then
    echo "these include <tgmath.h>, which changes what sqrt means in the user's file" >&2
    bad=1
fi

# shellcheck disable=SC2016
compile='
    command=$(echo "$1" | tr : " ")
    message=$(printf "#include \"%s\"\ntypedef int unit;\n" "${2#include/}" |
        $command -Wall -Wextra -Wpedantic -Wundef -Werror -fsyntax-only -Iinclude - 2>&1) && exit 0
    printf "%s does not compile alone (%s):\n%s\n" "$2" "$command" "$message" >&2
    exit 1'

for header in include/attn/*.h; do
    for compiler in $compilers; do
        echo "$compiler $header"
        echo "$compiler:-DATTN_DOUBLE $header"
    done
done | xargs -P "$jobs" -n 2 sh -c "$compile" sh || bad=1

[ "$bad" = 0 ] && echo "headers: each compiles alone with$(echo "$compilers" | sed 's/:[^ ]*//g')"
exit "$bad"
