#!/usr/bin/env bash
# git compares the names and addresses of a .mailmap without regard to case, as gitmailmap(5) says.
# One expects the same of dulwich, whose class Mailmap reads these files. It compares them exactly:
# a commit of another spelling keeps its old name.
# Seen with dulwich 1.2.21 and git 2.39.5.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check dulwich==1.2.21
git init --quiet
cat > .mailmap <<'END'
New Name <new@example.com> <Old@Example.com>
Proper Name <proper@example.com> Commit Name <shared@example.com>
END
cat > people <<'END'
X <Old@Example.com>
X <old@example.com>
Commit Name <shared@example.com>
commit name <shared@example.com>
END
cat > look_up.py <<'END'
import sys
from dulwich.mailmap import Mailmap
mailmap = Mailmap.from_path(".mailmap")
for line in sys.stdin.buffer:
    print(mailmap.lookup(line.rstrip(b"\n")).decode())
END
git check-mailmap --stdin < people > by-git
python/bin/python look_up.py < people > by-dulwich
paste -d '|' people by-git by-dulwich | tee output
diff - output <<'END'
X <Old@Example.com>|New Name <new@example.com>|New Name <new@example.com>
X <old@example.com>|New Name <new@example.com>|X <old@example.com>
Commit Name <shared@example.com>|Proper Name <proper@example.com>|Proper Name <proper@example.com>
commit name <shared@example.com>|Proper Name <proper@example.com>|commit name <shared@example.com>
END
