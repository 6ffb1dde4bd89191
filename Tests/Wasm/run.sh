#!/bin/sh
# Compiles MultipeerFraming, with what it needs of MultipeerCore, as Embedded Swift for a bare wasm32 and runs its vectors
# there.
# Usage: Tests/Wasm/run.sh [directory of the vectors]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
vectors=${1:-$root/Spec/vectors}
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
out=$root/.build/wasm
mkdir -p "$out"

python3 "$root/Tests/Wasm/vectors.py" "$vectors" > "$out/Vectors.swift"

# compile MODULE FILE...: one module, into an object file of its name.
compile() {
    module=$1
    shift
    swiftc -wmo -Osize -swift-version 6 -warnings-as-errors -strict-memory-safety -package-name swift-multipeer \
        -enable-experimental-feature Embedded -target wasm32-unknown-none-wasm -parse-as-library -I "$out" \
        -module-name "$module" -emit-module-path "$out/$module.swiftmodule" -c "$@" -o "$out/$module.o"
}

core=$root/Sources/MultipeerCore
# The part that frames carry: a peer id is `Codable`, which Embedded Swift does not have.
compile MultipeerCore "$core/DisplayName.swift" "$core/Endpoint.swift" "$core/UID.swift"
framing=$root/Sources/MultipeerFraming
compile SelfTest "$framing"/*.swift "$framing"/*/*.swift "$root/Tests/Wasm/SelfTest.swift" "$out/Vectors.swift"
"$tools/clang" --target=wasm32-unknown-none -O2 -ffreestanding -fno-builtin -c "$root/Tests/Wasm/runtime.c" \
    -o "$out/runtime.o"
"$tools/wasm-ld" -z stack-size=1048576 --export=_start "$out/SelfTest.o" "$out/MultipeerCore.o" "$out/runtime.o" \
    -o "$out/selftest.wasm"
exec "$tools/wasmkit" run "$out/selftest.wasm"
