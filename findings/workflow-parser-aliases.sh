#!/usr/bin/env bash
# GitHub's library for workflow files expands aliases of YAML. One expects a bound, as other readers
# of YAML have one, since a service reads files of strangers. There is none: each level of a list
# that names the one before twice doubles the time. A file of 360 bytes, of 16 such levels, takes 24
# seconds of a processor.
# Seen with @actions/workflow-parser 0.3.61.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @actions/workflow-parser@0.3.61 esbuild@0.28.2
cat > read.mjs <<'END_OF_FILE'
import { NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";

function read(levels) {
  const lists = Array.from({ length: levels }, (_, at) =>
    at === 0 ? "a0: &a0 [x, x]" : `a${at}: &a${at} [*a${at - 1}, *a${at - 1}]`,
  );
  const content = `${lists.join("\n")}\non: push\njobs: { a: { runs-on: x } }\n`;
  const startedAt = performance.now();
  parseWorkflow({ name: "a.yml", content }, new NoOperationTraceWriter());
  return { bytes: content.length, ms: performance.now() - startedAt };
}

read(8);
const [small, large] = [read(8), read(13)];
console.error(small, large);
console.log(`less than 1 KB: ${large.bytes < 1000}`);
console.log(`at least 10 times as long: ${large.ms / small.ms > 10}`);
END_OF_FILE
npx esbuild read.mjs --bundle --platform=node --format=cjs --outfile=read.cjs --log-level=error
node read.cjs | tee output
diff - output <<'END_OF_FILE'
less than 1 KB: true
at least 10 times as long: true
END_OF_FILE
