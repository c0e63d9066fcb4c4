#!/usr/bin/env bash
# Prints ssh-fixtures.ts: a new key of each type, and its signatures of one text by `ssh-keygen -Y sign`.
# Private keys are not stored. Security keys are missing, because they must be touched.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

printf 'tree of\na commit\n' >text

# sign <name> <namespace> <option>...: prints a signature as a constant
sign() {
  local name=$1 namespace=$2
  shift 2
  echo "export const $name = \`$(ssh-keygen -q -Y sign -f key -n "$namespace" "$@" <text 2>/dev/null)\`;"
}

# make <name> <type> <bits>: prints a new key as a constant; the key signs the following texts
make() {
  rm -f key key.pub
  ssh-keygen -q -t "$2" -b "$3" -N '' -C '' -f key
  echo
  echo "// ssh-keygen -t $2 -b $3"
  echo "export const $1 = \"$(cut -d ' ' -f 1,2 key.pub)\";"
}

echo "// Made by make-ssh-fixtures.sh."
echo
echo '/** What is signed. */'
echo 'export const TEXT = "tree of\na commit\n";'
make RSA_3072 rsa 3072
sign RSA_3072_SHA512 git
sign RSA_3072_SHA256 git -O hashalg=sha256
make ECDSA_256 ecdsa 256
sign ECDSA_256_SIGNED git
make ECDSA_384 ecdsa 384
sign ECDSA_384_SIGNED git
make ECDSA_521 ecdsa 521
sign ECDSA_521_SIGNED git
make ED25519 ed25519 256
sign ED25519_SIGNED git
sign ED25519_SIGNED_FILE file
