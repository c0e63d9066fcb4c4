#!/usr/bin/env bash
# Keys of JSON in expressions of workflows are free: an output may hold one that is called
# `constructor`. One expects its value, as for any other key, also for `toString`. GitHub's library
# looks the key up in lower case in a plain object of JavaScript: the value of `constructor` is
# lost, without an error.
# Seen with @actions/expressions 0.3.61.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @actions/expressions@0.3.61
cat > evaluate.mjs <<'END_OF_FILE'
import { data, Evaluator, Lexer, Parser } from "@actions/expressions";
const json = '{"constructor": 1, "toString": 2, "other": 3}';
for (const key of ["constructor", "toString", "other"]) {
  const text = `fromJSON('${json}').${key}`;
  const tree = new Parser(new Lexer(text).lex().tokens, [], []).parse();
  const value = new Evaluator(tree, new data.Dictionary()).evaluate();
  console.log(`${key}: ${JSON.stringify(value.coerceString())}`);
}
END_OF_FILE
node evaluate.mjs | tee output
diff - output <<'END_OF_FILE'
constructor: ""
toString: "2"
other: "3"
END_OF_FILE
