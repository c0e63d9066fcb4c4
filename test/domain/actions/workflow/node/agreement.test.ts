import {
  convertWorkflowTemplate,
  NoOperationTraceWriter,
  parseWorkflow,
} from "@actions/workflow-parser";
import { describe, expect, it } from "vitest";

import { readWorkflow } from "../../../../../src/domain/actions/workflow/read-workflow.ts";
import { ACCEPTED_FILES } from "../../../../support/workflow-files.ts";

/** What a reader says of a file. */
interface Read {
  /** As `line:column`. */
  readonly faults: readonly string[];
  readonly messages: readonly string[];
  readonly events: readonly string[];
  readonly jobs: readonly { readonly id: string; readonly needs: readonly string[] }[];
}

async function readHere(text: string): Promise<Read> {
  const read = await readWorkflow("a.yml", text);
  if (read.kind === "faulty") {
    const faults = read.faults.map(({ line, column }) => `${line}:${column}`);
    return { faults, messages: read.faults.map(({ message }) => message), events: [], jobs: [] };
  }
  const { jobs, triggers } = read.workflow;
  return {
    faults: [],
    messages: [],
    events: [...triggers.keys()],
    jobs: jobs.map(({ id, needs }) => ({ id, needs })),
  };
}

async function readByGitHub(content: string): Promise<Read> {
  const parsed = parseWorkflow({ name: "a.yml", content }, new NoOperationTraceWriter());
  const { context, value } = parsed;
  if (!value) return toRefusal(context.errors.getErrors().map(({ message }) => message));
  const { errors, events, jobs } = await convertWorkflowTemplate(context, value);
  if (errors) return toRefusal(errors.map(({ Message }) => Message));
  return {
    faults: [],
    messages: [],
    events: Object.keys(events ?? {}),
    jobs: (jobs ?? []).map(({ id, needs = [] }) => ({
      id: id.value,
      needs: needs.map((need) => need.value),
    })),
  };
}

function toRefusal(messages: readonly string[]): Read {
  const faults = messages.map((message) => {
    const [, line, column] = /Line: (\d+), Col: (\d+)|line (\d+), column (\d+)/.exec(message) ?? [];
    return `${line}:${column}`;
  });
  return { faults, messages, events: [], jobs: [] };
}

const STEPS = "    steps: [{ run: make }]\n";

describe("GitHub's reader of workflow files", () => {
  it.each([
    ["one event", `on: push\njobs:\n  a:\n    runs-on: x\n${STEPS}`],
    ["a list of events", `on: [push, pull_request]\njobs:\n  a:\n    runs-on: x\n${STEPS}`],
    [
      "jobs that need each other",
      `on:
  push: { branches: [main, "v*"], paths-ignore: ["**.md"] }
  pull_request: { types: [opened, closed] }
  workflow_dispatch:
    inputs: { level: { type: choice, options: [a, b], default: a } }
env: { A: 1 }
jobs:
  lint:
    runs-on: [self-hosted, linux]
${STEPS}  test:
    needs: lint
    strategy: { matrix: { os: [a, b], include: [{ os: c }] }, fail-fast: false }
    runs-on: \${{ matrix.os }}
${STEPS}  deploy:
    needs: [lint, test]
    if: github.ref == 'refs/heads/main' && needs.test.result == 'success'
    environment: production
    concurrency: { group: deploy, cancel-in-progress: false }
    permissions: { contents: read }
    runs-on: { group: large, labels: [linux] }
    container: { image: "node:20", env: { A: b } }
    services: { db: { image: postgres } }
    outputs: { url: "\${{ steps.a.outputs.url }}" }
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@v4
        with: { fetch-depth: 0 }
      - id: a
        if: always()
        run: |
          echo "\${{ secrets.KEY }}"
        env: { KEY: "\${{ toJSON(github) }}" }
        continue-on-error: true
  call:
    needs: deploy
    uses: ./.github/workflows/other.yml
    with: { a: 1 }
    secrets: inherit
`,
    ],
  ])("reads the same events and jobs in a file of %s", async (_, text) => {
    const read = await readHere(text);
    expect(read.faults).toEqual([]);
    expect(await readByGitHub(text)).toEqual(read);
  });

  it.each([
    [
      "a need that does not exist",
      `  a: { runs-on: x, needs: [b], steps: [{ run: a }] }\n  c: { runs-on: x, steps: [{ run: a }] }\n`,
    ],
    ["a step that is a text", `  a:\n    runs-on: x\n    steps:\n      - make\n`],
    ["steps that are no list", `  a:\n    runs-on: x\n    steps: make\n`],
    [
      "a script with a broken expression",
      `  a:\n    runs-on: x\n    steps: [{ run: "a \${{ github. }}" }]\n`,
    ],
    [
      "an expression without an end",
      `  a:\n    runs-on: x\n    steps: [{ run: "\${{ github.ref" }]\n`,
    ],
  ])("refuses, at the same line, %s", async (_, jobs) => {
    const text = `on: push\njobs:\n${jobs}`;
    const [here] = (await readHere(text)).faults;
    const [there] = (await readByGitHub(text)).faults;
    expect(here).toMatch(/^\d+:\d+$/);
    expect(lineOf(here)).toBe(lineOf(there));
  });

  it.each(ACCEPTED_FILES)("differs as docs/actions.md says in %s", async (_, text, refusal) => {
    const { messages } = await readByGitHub(text);
    expect(messages[0] ?? "").toMatch(refusal ?? /^$/);
  });
});

function lineOf(place: string | undefined): string | undefined {
  return place?.split(":")[0];
}
