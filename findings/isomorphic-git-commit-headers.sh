#!/usr/bin/env bash
# A commit has more headers than its tree, parents, author and committer: `encoding` says in what
# its message is written, `mergetag` holds the signed tag that was merged. One expects that what
# isomorphic-git reads as a commit is the same commit when it writes it. It drops both headers, and
# adds a line feed to a message that ends without one: each is another commit, without an error.
# Seen with isomorphic-git 1.44.11.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund isomorphic-git@1.44.11
git init --quiet repository
tree=$(git -C repository mktree < /dev/null)

cat > copy.mjs <<'END'
import fs from "node:fs";
import git from "isomorphic-git";
const [dir, oid] = ["repository", process.argv[2]];
const { commit } = await git.readCommit({ fs, dir, oid });
console.log(await git.writeCommit({ fs, dir, commit }));
END

# What a commit with some headers and a message is after it is read and written.
copy() {
  local oid copied
  oid=$(printf "tree $tree\nauthor A <a@example.com> 1700000000 +0000\ncommitter A <a@example.com> 1700000000 +0000\n$2\n$3" |
    git -C repository hash-object -t commit -w --stdin)
  copied=$(node copy.mjs "$oid")
  git -C repository cat-file commit "$copied" > copied
  if [[ $copied == "$oid" ]]; then
    echo "$1: the same"
  else
    echo "$1: another, with $(grep --count --extended-regexp '^(encoding|mergetag) ' copied || true) such headers"
  fi
}
{
  copy plain '' 'Message\n'
  copy encoding 'encoding ISO-8859-1\n' 'Message\n'
  copy mergetag "mergetag object $tree\n type tree\n tag v1\n tagger A <a@example.com> 1700000000 +0000\n \n One\n" 'Message\n'
  copy 'no line feed' '' 'Message'
} | tee output
diff - output <<'END'
plain: the same
encoding: another, with 0 such headers
mergetag: another, with 0 such headers
no line feed: another, with 0 such headers
END
git -C repository fsck --no-dangling
