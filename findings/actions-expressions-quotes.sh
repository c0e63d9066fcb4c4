#!/usr/bin/env bash
# In expressions of workflows, two quotes within a text are one. One expects this for each pair, as
# GitHub documents it. GitHub's library does it for the first pair of a text only.
# Seen with @actions/expressions 0.3.61.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @actions/expressions@0.3.61
cat > evaluate.mjs <<'END_OF_FILE'
import { data, Evaluator, Lexer, Parser } from "@actions/expressions";
const tree = new Parser(new Lexer("'it''s Bob''s'").lex().tokens, [], []).parse();
console.log(new Evaluator(tree, new data.Dictionary()).evaluate().coerceString());
END_OF_FILE
node evaluate.mjs | tee output
diff - output <<'END_OF_FILE'
it's Bob''s
END_OF_FILE
