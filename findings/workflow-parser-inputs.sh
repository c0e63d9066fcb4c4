#!/usr/bin/env bash
# GitHub's library for workflow files takes inputs of `workflow_dispatch` of the type `number`,
# which GitHub documents. One expects their type and their default in what it makes of the file, as
# for other types. Both are missing, without an error: only the description is left.
# Seen with @actions/workflow-parser 0.3.61.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @actions/workflow-parser@0.3.61 esbuild@0.28.2
cat > read.mjs <<'END'
import {
  convertWorkflowTemplate,
  NoOperationTraceWriter,
  parseWorkflow,
} from "@actions/workflow-parser";
const content = `
on:
  workflow_dispatch:
    inputs:
      count: { description: How many, type: number, default: 3 }
      name: { description: Whose, type: string, default: ada }
jobs:
  build:
    runs-on: ubuntu-latest
    steps:
      - run: make
`;
async function main() {
  const { context, value } = parseWorkflow({ name: "a.yml", content }, new NoOperationTraceWriter());
  const { events, errors } = await convertWorkflowTemplate(context, value);
  for (const [name, input] of Object.entries(events.workflow_dispatch.inputs)) {
    console.log(`${name}: type ${input.type}, default ${input.default}`);
  }
  console.log(`errors: ${errors?.length ?? 0}`);
}
main();
END
npx esbuild read.mjs --bundle --platform=node --format=cjs --outfile=read.cjs --log-level=error
node read.cjs | tee output
diff - output <<'END'
count: type undefined, default undefined
name: type string, default ada
errors: 0
END
