#!/usr/bin/env bash
# GitHub's library for workflow files names a job that another one needs and that does not exist,
# with its line. One expects this for every such job. Where no job of the file is without needs, it
# says instead that one must be, at the line of the first job, and neither the unknown name nor a
# circle is named.
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
const job = (name, needs) =>
  `  ${name}:\n    needs: [${needs}]\n    runs-on: ubuntu-latest\n    steps: [{ run: make }]\n`;
async function main() {
  for (const jobs of [
    job("test", "") + job("deploy", "build"),
    job("deploy", "build"),
    job("test", "deploy") + job("deploy", "test"),
  ]) {
    const file = { name: "a.yml", content: `on: push\njobs:\n${jobs}` };
    const { context, value } = parseWorkflow(file, new NoOperationTraceWriter());
    const { errors } = await convertWorkflowTemplate(context, value);
    console.log(errors.map(({ Message }) => Message).join(" "));
  }
}
main();
END
npx esbuild read.mjs --bundle --platform=node --format=cjs --outfile=read.cjs --log-level=error
node read.cjs | tee output
diff - output <<'END'
a.yml (Line: 8, Col: 13): Job 'deploy' depends on unknown job 'build'.
a.yml (Line: 3, Col: 3): The workflow must contain at least one job with no dependencies.
a.yml (Line: 3, Col: 3): The workflow must contain at least one job with no dependencies.
END
