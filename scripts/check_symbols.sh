#!/bin/sh
# check_symbols.sh BUILD - what the two libraries in BUILD hold for a linker:
# every public name starts with attn_, only src/base/memory.c allocates, and
# nothing but the chosen kernels and the allocator's counters outlives a call.
# Prints what is wrong and then exits 1.
set -u

build=${1:?usage: check_symbols.sh BUILD}
state='memory.o:fail_from memory.o:live kernels.o:attn_kernels_chosen'
export state

for library in "$build/libattn.a" "$build/libattn_f64.a"; do
    # A line of objdump -t: value, seven flags, section, tab, size, name.
    objdump -t "$library" | library=$library awk '
    BEGIN {
        n = split(ENVIRON["state"], name, " ")
        for (i = 1; i <= n; i++) allowed[name[i]] = 1
    }
    function wrong(what) { print ENVIRON["library"] ": " object " " what " " $NF > "/dev/stderr"; bad = 1 }
    / file format / { object = $1; sub(/:$/, "", object); next }
    !/\t/ { next }
    {
        section = substr($0, 26)
        sub(/\t.*/, "", section)
        seen++
    }
    $NF ~ /^(\.|_|.*\.(asan|ubsan|tsan|module_[cd]tor)|[A-Z]ubsan|\*\.L)/ { next } # of compilers and sanitizers
    section == "*UND*" && object != "memory.o" && \
        $NF ~ /^(malloc|calloc|realloc|reallocarray|free|aligned_alloc|posix_memalign|strn?dup|v?asprintf)$/ {
        wrong("uses")
    }
    section != "*UND*" && substr($0, 18, 7) ~ /^[gu!]|^.w/ && $NF !~ /^attn_/ { wrong("shows") }
    section ~ /^(\.t?(bss|data)|\*COM\*)/ && section !~ /^\.data\.rel\.ro/ && (section ~ /^\.t/ || substr($0, 18, 7) ~ /O$/) && \
        !allowed[object ":" $NF] { wrong("keeps state in") }
    END { exit bad || !seen }' || exit 1
done
echo "symbols: public names start with attn_, one file allocates, no state outlives a call"
