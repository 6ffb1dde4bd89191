#!/usr/bin/env bash
# Builds the fuzz harnesses as OSS-Fuzz and ClusterFuzzLite call it, with these variables:
#   SRC                  the folder that holds swift-multipeer; without it, the one that this script belongs to
#   OUT                  where the harnesses go, each with its seeds, dictionary and options
#   WORK                 where the build goes; default: .build/oss-fuzz
#   SANITIZER            address (default), undefined, coverage or none
#   LIB_FUZZING_ENGINE   the engine to link: -fsanitize=fuzzer (default), or a library
#   FUZZING_ENGINE       libfuzzer (default); others are refused
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." 2>/dev/null && pwd || true)
[ -z "${SRC:-}" ] || source=$SRC/swift-multipeer
cd "$source"
: "${OUT:?OUT has to be the folder for the harnesses}"
work=${WORK:-.build/oss-fuzz}
sanitizer=${SANITIZER:-address}
engine=${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}
mkdir -p "$OUT/lib" "$work"

[ "${FUZZING_ENGINE:-libfuzzer}" = libfuzzer ] || {
    echo "build.sh: Swift's compiler works with libfuzzer, not with $FUZZING_ENGINE" >&2
    exit 1
}

# The runtime of Swift and OpenSSL are not where the harnesses run: they are next to them. RPATH, unlike RUNPATH, also holds for
# the libraries that these need.
flags=(-c release --scratch-path "$work" -Xswiftc -DFUZZING -Xswiftc -no-toolchain-stdlib-rpath --disable-local-rpath
    -Xlinker -rpath -Xlinker '$ORIGIN/lib' -Xlinker --disable-new-dtags)
case $sanitizer in
address | undefined)
    flags+=(-Xswiftc "-sanitize=fuzzer,$sanitizer" -Xcc "-fsanitize=fuzzer-no-link,$sanitizer") ;;
coverage)
    flags+=(-Xswiftc -sanitize=fuzzer -Xcc -fsanitize=fuzzer-no-link
        -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping
        -Xcc -fprofile-instr-generate -Xcc -fcoverage-mapping) ;;
none) flags+=(-Xswiftc -sanitize=fuzzer -Xcc -fsanitize=fuzzer-no-link) ;;
*)
    echo "build.sh: there is no Swift build with SANITIZER=$sanitizer" >&2
    exit 1 ;;
esac
# `--sanitize=fuzzer` links the libFuzzer of the compiler.
if [ "$engine" = -fsanitize=fuzzer ]; then flags+=(--sanitize=fuzzer); else flags+=(-Xlinker "$engine"); fi

swift build "${flags[@]}" --product fuzz
binary=$(swift build "${flags[@]}" --show-bin-path)/fuzz

runtime=$(swiftc -print-target-info | sed -n '/"runtimeLibraryPaths"/,/\]/s/.*"\(\/[^"]*\)".*/\1/p' | paste -s -d :)
LD_LIBRARY_PATH=$runtime ldd "$binary" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | while read -r library; do
    case $library in
    */libc.so.* | */libm.so.* | */libpthread.so.* | */libdl.so.* | */librt.so.* | */libresolv.so.*) ;;
    *) cp -L "$library" "$OUT/lib/" ;;
    esac
done

# The formats of the specification, where Python is.
corpus=
if command -v python3 >/dev/null; then
    Fuzz/from-vectors
    corpus=.build/fuzz-corpus
fi

# The program finds its harness by its own name.
first=
for name in $(ls Fuzz/Seeds); do
    if [ -z "$first" ]; then cp "$binary" "$OUT/$name"; else ln -f "$OUT/$first" "$OUT/$name"; fi
    first=${first:-$name}
    folders=()
    for folder in "Fuzz/Seeds/$name" "Fuzz/Regressions/$name" ${corpus:+"$corpus/$name"}; do
        [ ! -d "$folder" ] || folders+=("$folder")
    done
    # Inputs of one name may be in several folders.
    staged=$work/seeds/$name
    rm -rf "$staged" "$OUT/${name}_seed_corpus.zip"
    mkdir -p "$staged"
    for folder in "${folders[@]}"; do
        for input in "$folder"/*; do cp "$input" "$staged/$(basename "$(dirname "$folder")")-$(basename "$input")"; done
    done
    (cd "$staged" && find . -type f | LC_ALL=C sort | zip -q -X -@ -) >"$OUT/${name}_seed_corpus.zip"
    printf '[libfuzzer]\nmax_len = 4096\ntimeout = 30\nrss_limit_mb = 1024\n' >"$OUT/$name.options"
    [ ! -e .build/fuzz-corpus.dict ] || cp .build/fuzz-corpus.dict "$OUT/$name.dict"
done
echo "$(ls Fuzz/Seeds | wc -l) harnesses in $OUT"
