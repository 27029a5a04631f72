#!/bin/sh
# install.sh [--tests] [--pictures] [--dev] - says what is missing and what for, and
# installs it where it can: by apt-get, as root or with sudo. Elsewhere, and with
# ATTN_INSTALL=no, it says what to install by hand. Without options it looks after
# everything but --dev. Exits 1 when something is still missing that was asked for
# and is needed; pictures are never needed.
set -u

# group | test | apt | dnf | pacman | brew | what for. A - comes with another one.
table='build|compiler|gcc|gcc|gcc|gcc|to build (clang will do too)
build|headers|libc6-dev|glibc-devel|glibc|-|to build: headers of the C library
build|make|make|make|make|make|to build
tests|check|check|check-devel|check|check|to test: the test framework
tests|pkg-config|pkg-config|pkgconf|pkgconf|pkgconf|to test: says how to link Check
pictures|gnuplot|gnuplot-nox|gnuplot-minimal|gnuplot|gnuplot|pictures of a run
pictures|fc-list|fontconfig|fontconfig|fontconfig|fontconfig|pictures: which characters can be drawn
pictures|chinese|fonts-wqy-microhei|wqy-microhei-fonts|wqy-microhei|-|pictures: Chinese labels
dev|clang|clang|clang|clang|llvm|the second compiler
dev|g++|g++|gcc-c++|gcc|-|headers compiled as C++
dev|clang-format|clang-format|clang-tools-extra|clang|clang-format|the format check
dev|valgrind|valgrind|valgrind|valgrind|-|the memory check of make test-long
dev|browser|chromium|chromium|chromium|-|the page of a run in a browser, by make test-long
dev|cppcheck|cppcheck|cppcheck|cppcheck|cppcheck|static analysis
dev|shellcheck|shellcheck|ShellCheck|shellcheck|shellcheck|the check of the scripts'

has() { command -v "$1" >/dev/null 2>&1; }
there() {
    case $1 in
    compiler) has gcc || has clang ;;
    headers) echo '#include <math.h>' | "$(has gcc && echo gcc || echo clang)" -fsyntax-only -x c - 2>/dev/null ;;
    check) has pkg-config && pkg-config --exists check ;;
    chinese) has fc-list && fc-list :lang=zh 2>/dev/null | grep -q . ;;
    browser) has chromium || has chromium-browser || has google-chrome ;;
    *) has "$1" ;;
    esac
}

# The lines of the table that are asked for and not there.
find_missing() {
    printf '%s\n' "$table" | while IFS='|' read -r group test rest; do
        case $groups in
        *"$group"*) there "$test" || printf '%s|%s|%s\n' "$group" "$test" "$rest" ;;
        esac
    done
}
names() { # the column of one package manager
    printf '%s\n' "$missing" | cut -d '|' -f "$1" | grep -v '^-$' | sort -u | paste -s -d ' ' -
}

apt_install() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        -o DPkg::Lock::Timeout=60 -o Acquire::Retries=1 "$@"
}
install_by_apt() {
    [ "${ATTN_INSTALL-}" != no ] && has apt-get || return 1
    sudo=
    if [ "$(id -u)" != 0 ]; then
        has sudo || return 1
        sudo=sudo
        [ -t 0 ] || sudo -n true 2>/dev/null || return 1 # nobody there to type a password
    fi
    echo "Installing: ${sudo:+sudo }apt-get install $*"
    apt_install "$@" </dev/null || { $sudo apt-get update -q -o Acquire::Retries=1 && apt_install "$@" </dev/null; }
}
say_by_hand() {
    echo "To install by hand:"
    if has apt-get; then
        echo "    sudo apt-get install $(names 3)"
    elif has dnf; then
        echo "    sudo dnf install $(names 4)"
    elif has pacman; then
        echo "    sudo pacman -S $(names 5)"
    elif has brew; then
        echo "    brew install $(names 6)"
    else
        echo "    $(names 3)    (names of Debian's packages)"
    fi
}

groups=build
for option; do
    case $option in
    --tests | --pictures | --dev) groups="$groups ${option#--}" ;;
    *) echo "usage: install.sh [--tests] [--pictures] [--dev]" >&2 && exit 2 ;;
    esac
done
[ $# = 0 ] && groups='build tests pictures'

missing=$(find_missing)
[ -z "$missing" ] && exit 0
echo "Missing:"
printf '%s\n' "$missing" | awk -F '|' '{ printf "    %-20s %s\n", $3, $7 }'
# shellcheck disable=SC2046
install_by_apt $(names 3)
missing=$(find_missing)
[ -z "$missing" ] && exit 0
say_by_hand
printf '%s\n' "$missing" | grep -q -v '^pictures|' && exit 1
echo "Everything but pictures works without."
exit 0
