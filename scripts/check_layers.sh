#!/bin/sh
# check_layers.sh - every #include goes to the same folder or to one on its left:
#     base io kernels math attention model tasks study learn
# train/ sees include/attn and itself. No file reaches itself through others.
# Run it in the project's root; it prints what is wrong and then exits 1.
set -u

# A public header belongs to the folder of the source of the same name. These
# have no source, or one elsewhere: attn.h includes all the others.
homes='version:base loss:math attn:learn'

files=$(find src include train -name '*.[ch]')
export homes files
# shellcheck disable=SC2086
edges=$(grep -H '^[ 	]*#[ 	]*include[ 	]*["<]' $files /dev/null | awk '
BEGIN {
    n = split("base io kernels math attention model tasks study learn", folder, " ")
    for (i = 1; i <= n; i++) rank[folder[i]] = i
    n = split(ENVIRON["files"], file, "\n")
    for (i = 1; i <= n; i++) {
        there[file[i]] = 1
        if (split(file[i], part, "/") == 3 && sub(/\.c$/, "", part[3])) home[part[3]] = part[2]
    }
    n = split(ENVIRON["homes"], pair, " ")
    for (i = 1; i <= n; i++) { split(pair[i], part, ":"); home[part[1]] = part[2] }
}
function folder_of(path,    part) {
    split(path, part, "/")
    if (part[1] != "include") return part[1] == "src" ? part[2] : part[1]
    sub(/\.h$/, "", part[3])
    return home[part[3]]
}
function find(name,    here) {
    here = from
    sub(/[^\/]*$/, "", here)
    if (there[here name]) return here name
    return there["src/" name] ? "src/" name : there["include/" name] ? "include/" name : ""
}
function fault(a, b) {
    if (to == from) return "includes itself"
    if (a == "train") return b == "train" || to ~ /^include/ ? "" : "programs see include/attn only, not " to
    if (!(a in rank)) return "belongs to no folder: no source has its name"
    if (!(b in rank)) return "includes " to ", which belongs to no folder"
    if (rank[a] < rank[b]) return "is in " a ", but includes " to " of " b
    return from ~ /^include/ && to !~ /^include/ ? "is public, but includes " to : ""
}
{
    from = substr($0, 1, index($0, ":") - 1)
    name = substr($0, length(from) + 2)
    angle = name ~ /^[^"]*</
    sub(/^[^"<]*["<]/, "", name)
    sub(/[">].*/, "", name)
    if (angle && name !~ /^attn\// || from ~ /^train/ && name ~ /\.inc$/) next # .inc: made in building
    to = find(name)
    why = angle ? "write \"" name "\", not <" name ">" : to == "" ? "includes " name ", which is nowhere" \
        : fault(folder_of(from), folder_of(to))
    if (why != "" && !said[from why]++) { print from ": " why > "/dev/stderr"; bad = 1 }
    if (to != "") print from, to
}
END { exit bad }')
bad=$?

loop=$(printf '%s\n' "$edges" | tsort 2>&1 >/dev/null)
if [ -n "$loop" ]; then
    printf 'includes go in a circle:\n%s\n' "$loop" >&2
    bad=1
fi
[ "$bad" = 0 ] && echo "layers: $(printf '%s\n' "$edges" | grep -c .) includes, each to its own folder or to the left"
exit "$bad"
