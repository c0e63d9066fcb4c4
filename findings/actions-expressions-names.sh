#!/usr/bin/env bash
# Names in expressions of workflows are free: a variable, an output or a key of JSON may be called
# `constructor`. One expects its value, and an unknown function of that name to be refused as such.
# GitHub's library looks names up in plain objects of JavaScript: the value is lost without an error,
# and the function is called, which ends in a TypeError or a value that is none.
# Seen with @actions/expressions 0.3.61.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @actions/expressions@0.3.61
cat > evaluate.mjs <<'END_OF_FILE'
import { data, Evaluator, Lexer, Parser } from "@actions/expressions";
for (const text of [
  `fromJSON('{"constructor": 1, "other": 2}').other`,
  `fromJSON('{"constructor": 1, "other": 2}').constructor`,
  "unknown(1)",
  "constructor(1)",
  "__proto__(1)",
]) {
  try {
    const tree = new Parser(new Lexer(text).lex().tokens, [], []).parse();
    const value = new Evaluator(tree, new data.Dictionary()).evaluate();
    console.log(`${text}: ${typeof value.coerceString === "function" ? JSON.stringify(value.coerceString()) : "no value"}`);
  } catch (error) {
    console.log(`${text}: ${error.constructor.name}: ${error.message}`);
  }
}
END_OF_FILE
node evaluate.mjs | tee output
diff - output <<'END_OF_FILE'
fromJSON('{"constructor": 1, "other": 2}').other: "2"
fromJSON('{"constructor": 1, "other": 2}').constructor: ""
unknown(1): ExpressionError: Unrecognized function: 'unknown'
constructor(1): no value
__proto__(1): TypeError: f.call is not a function
END_OF_FILE
