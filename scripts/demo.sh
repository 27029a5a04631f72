#!/bin/sh
# demo.sh MAKE BUILD - what `make demo` does: installs what is missing for pictures,
# builds, trains the default task, and says where things are.
set -u

make=$1
build=$2
run=runs/demo

# make runs this line under -n too, because it names $(MAKE).
case ${MAKEFLAGS%% *} in
*=*) ;;
*n*) echo "install what is missing, build $build/train, run it" && exit 0 ;;
esac

scripts/install.sh --pictures || exit 1
jobs=-j$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
case ${MAKEFLAGS-} in
*jobserver*) jobs= ;;
esac
echo "Building into $build/ ..."
# shellcheck disable=SC2086
"$make" -s $jobs BUILD="$build" || exit 1

"$build/train" --out "$run" --force --show || exit $?

echo
echo "The run is in $run/:"
for file in loss.png attention.png; do
    [ -f "$run/$file" ] && echo "    $file"
done
echo "    metrics.tsv, attention.npy, result.json, checkpoint.safetensors, config.json
Next:
    $build/study $run            what happened, in words; --map, --play, --plot, --html
    $build/train --task reverse       another task; $build/train --list shows all
    $build/train --pairs 16 --seed 2  other settings; $build/train --help explains them
    $build/gradcheck                  every hand-written derivative against finite differences
    make test                         all tests"
