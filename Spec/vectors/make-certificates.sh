#!/bin/sh
# Created certificates.json, once: keys and signatures are random, so a second run would create other certificates.
# generate.py reads the file; this script is not needed again.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
self() {  # name, kind of key, first day, last day
    openssl genpkey $2 -out "$1.key" 2>/dev/null
    openssl req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr"
    : > index; rm -f serial; openssl rand -hex 8 > serial
    cat > "$1.cnf" <<CONF
[ca]
default_ca = own
[own]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
CONF
    openssl ca -batch -selfsign -config "$1.cnf" -keyfile "$1.key" -in "$1.csr" -startdate "$3" -enddate "$4" \
        -notext -out "$1.pem" 2>/dev/null
}
p256="-algorithm EC -pkeyopt ec_paramgen_curve:P-256"
self ephemeral "$p256" 20250101000000Z 20450101000000Z
self other "$p256" 20250101000000Z 20450101000000Z
self expired "$p256" 20000101000000Z 20010101000000Z
self not-yet-valid "$p256" 20480101000000Z 20490101000000Z
self p384 "-algorithm EC -pkeyopt ec_paramgen_curve:P-384" 20250101000000Z 20450101000000Z
self ed25519 "-algorithm ED25519" 20250101000000Z 20450101000000Z
self rsa2048 "-algorithm RSA -pkeyopt rsa_keygen_bits:2048" 20250101000000Z 20450101000000Z
# The same key as "ephemeral" in a second certificate.
openssl req -new -x509 -key ephemeral.key -subj /CN=ephemeral -days 7000 -out same-key.pem
# A chain of three.
openssl req -new -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout root.key -subj /CN=root -days 7000 \
    -out root.pem 2>/dev/null
printf 'basicConstraints=critical,CA:TRUE\n' > authority.ext
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout intermediate.key -subj /CN=intermediate \
    -out intermediate.csr 2>/dev/null
openssl x509 -req -in intermediate.csr -CA root.pem -CAkey root.key -CAcreateserial -days 7000 -extfile authority.ext \
    -out intermediate.pem 2>/dev/null
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout leaf.key -subj /CN=leaf -out leaf.csr \
    2>/dev/null
openssl x509 -req -in leaf.csr -CA intermediate.pem -CAkey intermediate.key -CAcreateserial -days 7000 \
    -out leaf.pem 2>/dev/null
# A certificate of more than 8 KiB, two of which exceed the limit of a chain.
comment=$(head -c 8192 /dev/zero | tr '\0' x)
printf '[req]\ndistinguished_name=dn\n[dn]\n[big]\nnsComment=%s\n' "$comment" > big.cnf
openssl req -new -x509 -config big.cnf -extensions big -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
    -keyout big.key -subj /CN=big -days 7000 -out big.pem 2>/dev/null
{
    printf '{\n'
    separator=''
    for name in ephemeral other expired not-yet-valid p384 ed25519 rsa2048 same-key leaf intermediate root big; do
        printf '%s  "%s": "%s"' "$separator" "$name" \
            "$(openssl x509 -in "$name.pem" -outform DER | od -An -v -tx1 | tr -d ' \n')"
        separator=',
'
    done
    printf '\n}\n'
} > certificates.json
cat certificates.json
