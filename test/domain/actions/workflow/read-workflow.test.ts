import { describe, expect, it } from "vitest";

import { readWorkflow } from "../../../../src/domain/actions/workflow/read-workflow.ts";
import type { Workflow } from "../../../../src/domain/actions/workflow/workflow.ts";

const JOBS = "jobs:\n  build:\n    runs-on: linux\n    steps: [{ run: make }]\n";
const TOP = "on: push\njobs:\n";

async function read(text: string): Promise<Workflow> {
  const result = await readWorkflow(".gitea/workflows/ci.yml", text);
  if (result.kind === "faulty") throw new Error(JSON.stringify(result.faults));
  return result.workflow;
}

/** Faults as `line:column message`. */
async function faultsOf(content: string | Uint8Array): Promise<string[]> {
  const result = await readWorkflow(".gitea/workflows/ci.yml", content);
  if (result.kind === "workflow") return [];
  return result.faults.map(({ line, column, message }) =>
    line === undefined ? message : `${line}:${column} ${message}`,
  );
}

describe("a workflow file", () => {
  it("has a name, events, jobs in order and what they need", async () => {
    const workflow = await read(`
name: Build
run-name: \${{ github.actor }} builds
on: [push, pull_request]
concurrency: { group: "\${{ github.ref }}", cancel-in-progress: "\${{ true }}" }
permissions: { contents: read, statuses: write, id-token: write, issues: none }
jobs:
  test:
    runs-on: linux
    strategy: { matrix: { node: [18, 20] } }
    steps: [{ run: make }]
  deploy:
    needs: [test, test]
    uses: ./.gitea/workflows/deploy.yml
`);
    expect(workflow).toMatchObject({
      name: "Build",
      runName: "${{ github.actor }} builds",
      concurrency: { group: "${{ github.ref }}", cancelInProgress: "${{ true }}" },
      permissions: { contents: "read", statuses: "write" },
      jobs: [
        { id: "test", needs: [], hasMatrix: true, isCall: false },
        { id: "deploy", needs: ["test"], hasMatrix: false, isCall: true },
      ],
    });
    expect([...workflow.triggers.keys()]).toEqual(["push", "pull_request"]);
  });

  it("is named after its file where it has no name", async () => {
    expect(await read(`on: push\n${JOBS}`)).toMatchObject({ name: "ci.yml", crons: [] });
    expect((await read(`name: ""\non: push\n${JOBS}`)).name).toBe("ci.yml");
  });

  it.each([
    ["read-all", { contents: "read", packages: "read", statuses: "read" }],
    ["write-all", { contents: "write", packages: "write", statuses: "write" }],
  ])("grants with %s every kind", async (word, expected) => {
    const { permissions } = await read(`on: push\npermissions: ${word}\n${JOBS}`);
    expect(permissions).toMatchObject(expected);
    expect(Object.keys(permissions ?? {})).toHaveLength(6);
  });

  it.each(["{}", "", "everything", "[contents]", "{ contents: admin }"])(
    "grants nothing with `permissions: %s`",
    async (value) => {
      expect((await read(`on: push\npermissions: ${value}\n${JOBS}`)).permissions).toEqual({});
    },
  );

  it("has a group of runs as a text alone, which cancels none", async () => {
    const { concurrency } = await read(`on: push\nconcurrency: main\n${JOBS}`);
    expect(concurrency).toEqual({ group: "main", cancelInProgress: false });
  });

  it("has the times of its schedule, each with its zone", async () => {
    const { crons, triggers } = await read(`
on:
  schedule:
    - cron: "30 5 * * 1-5"
    - { cron: "@daily" }
    - { cron: "0 0 * * *", timezone: Europe/Berlin }
    - cron: "30 5 * * 1-5"
${JOBS}`);
    expect(crons).toEqual(["30 5 * * 1-5", "@daily", "TZ=Europe/Berlin 0 0 * * *"]);
    expect(triggers.get("schedule")).toEqual({});
  });

  // The library's reader loses the type and default of numbers.
  it("has the inputs of a start by hand", async () => {
    const { dispatchInputs } = await read(`
on:
  workflow_dispatch:
    inputs:
      name: { description: Whose, required: true }
      count: { type: number, default: 3 }
      flag: { type: boolean, default: false }
      level: { type: choice, options: [low, high], default: low }
      where: { type: environment }
      odd: { type: thing }
      bare:
${JOBS}`);
    expect(dispatchInputs).toEqual([
      { name: "name", type: "string", description: "Whose", isRequired: true },
      { name: "count", type: "number", description: "", isRequired: false, default: "3" },
      { name: "flag", type: "boolean", description: "", isRequired: false, default: "false" },
      {
        name: "level",
        type: "choice",
        description: "",
        isRequired: false,
        default: "low",
        options: ["low", "high"],
      },
      { name: "where", type: "environment", description: "", isRequired: false },
      { name: "odd", type: "string", description: "", isRequired: false },
      { name: "bare", type: "string", description: "", isRequired: false },
    ]);
  });
});

// GitHub's reader refuses each of these, and a runner runs it.
describe("a file that runners accept is read", () => {
  it.each([
    ["an event that nobody knows", `on: [push, teapot]\n${JOBS}`],
    ["a type that nobody knows", `on: { issues: { types: [teapot] } }\n${JOBS}`],
    ["a schedule alone", `on: { schedule: [{ cron: "0 0 * * *" }] }\n${JOBS}`],
    ["both kinds of a filter", `on: { push: { branches: [a], branches-ignore: [b] } }\n${JOBS}`],
    ["keys that nobody knows", `colour: red\non: { push: { colour: red } }\n${JOBS}    hue: 1\n`],
    [
      "an address of an action",
      `${TOP}  a:\n    runs-on: x\n    steps: [{ uses: "https://gitea.com/actions/checkout@v4" }]\n`,
    ],
    [
      "any label",
      `${TOP}  a:\n    runs-on: [my-own, "ubuntu-latest:docker://node:16"]\n    steps: []\n`,
    ],
    ["a job without steps", `${TOP}  a:\n    runs-on: x\n`],
    ["a called workflow without 'runs-on'", `${TOP}  a:\n    uses: ./.gitea/workflows/b.yml\n`],
    ["a job whose name is no identifier", `${TOP}  "1. build":\n    runs-on: x\n`],
    ["secrets in a condition", `${TOP}  a:\n    if: secrets.KEY != ''\n    runs-on: x\n`],
    ["Gitea's own context", `${TOP}  a:\n    if: gitea.ref == 'x'\n    runs-on: x\n`],
    ["a function that nobody knows", `${TOP}  a:\n    if: teapot(1)\n    runs-on: x\n`],
    ["a second document", `on: push\n${JOBS}---\n1\n`],
    [
      "maps that are merged",
      `x: &a { run: make }\n${TOP}  a:\n    runs-on: x\n    steps: [{ <<: *a }]\n`,
    ],
    [
      "an input without options",
      `on: { workflow_dispatch: { inputs: { a: { type: choice } } } }\n${JOBS}`,
    ],
    ["a byte order mark", `\ufeffon: push\n${JOBS}`],
    ["line ends of Windows", `on: push\n${JOBS}`.replaceAll("\n", "\r\n")],
    [
      "`if` as the name of an input",
      `${TOP}  a:\n    runs-on: x\n    steps: [{ uses: a, with: { if: a b c } }]\n`,
    ],
  ])("%s", async (_, text) => {
    expect(await faultsOf(text)).toEqual([]);
  });
});

describe("a file that can't be run says why and where", () => {
  it.each([
    ["no map", "- push\n", ["1:1 A workflow file must be a map"]],
    ["nothing", "", ["A workflow file must be a map"]],
    [
      "no YAML",
      "on: push\njobs: [\n",
      ["3:1 Flow sequence in block collection must be sufficiently indented and end with a ]"],
    ],
    ["tabs", "on: push\njobs:\n\tbuild: 1\n", ["3:1 Tabs are not allowed as indentation"]],
    [
      "a key twice",
      `${TOP}  a: { runs-on: x }\n  a: { runs-on: y }\n`,
      ["4:3 Map keys must be unique"],
    ],
    ["no anchor", `${TOP}  a: *b\n`, ["3:6 There is no anchor 'b'"]],
    [
      "an alias in itself",
      `${TOP}  a: &b { runs-on: x, c: *b }\n`,
      ["3:26 The alias 'b' is a part of itself"],
    ],
    ["a key that is a list", `${TOP}  ? [a]\n  : 1\n`, ["3:5 A key must be a text"]],
    ["no events", JOBS, ["The workflow has no 'on'"]],
    ["no jobs", "on: push\n", ["The workflow has no jobs"]],
    ["empty jobs", "on: push\njobs: {}\n", ["2:7 The workflow has no jobs"]],
    ["a list of filters", `on: { push: [main] }\n${JOBS}`, ["1:13 'push' must be a map"]],
    [
      "a filter that is a map",
      `on: { push: { branches: { a: b } } }\n${JOBS}`,
      ["1:25 'branches' of 'push' must be a text or a list of texts"],
    ],
    [
      "a pattern without an end",
      `on: { push: { tags: ["v[1"] } }\n${JOBS}`,
      ["1:22 '[' has no end in 'v[1'"],
    ],
    [
      "a schedule that is no list",
      `on: { schedule: { cron: "0 0 * * *" } }\n${JOBS}`,
      ["1:7 'schedule' must be a list of 'cron' entries"],
    ],
    [
      "a schedule without times",
      `on: { schedule: [{ at: noon }] }\n${JOBS}`,
      ["1:18 An entry of 'schedule' must have a 'cron'"],
    ],
    [
      "a schedule of six fields",
      `on:\n  schedule:\n    - cron: "0 0 0 * * *"\n${JOBS}`,
      ["3:13 The schedule '0 0 0 * * *' does not have five fields"],
    ],
    [
      "a group without a name",
      `on: push\nconcurrency: { cancel-in-progress: true }\n${JOBS}`,
      ["2:14 'concurrency' has no group"],
    ],
    [
      "a job that is no map",
      `${TOP}  a: 1\n`,
      ["3:3 The job 'a' must be a map", "3:3 The workflow has no jobs"],
    ],
    ["a job without runners", `${TOP}  a:\n    steps: []\n`, ["3:3 The job 'a' has no 'runs-on'"]],
    [
      "steps that are no list",
      `${TOP}  a:\n    runs-on: x\n    steps: make\n`,
      ["5:12 'steps' must be a list"],
    ],
    [
      "a step that is no map",
      `${TOP}  a:\n    runs-on: x\n    steps:\n      - make\n`,
      ["6:9 A step must be a map"],
    ],
    [
      "a step that does nothing",
      `${TOP}  a:\n    runs-on: x\n    steps:\n      - name: make\n`,
      ["6:9 A step must have 'run' or 'uses'"],
    ],
    [
      "a step that does two things",
      `${TOP}  a:\n    runs-on: x\n    steps: [{ run: a, uses: b }]\n`,
      ["5:13 A step has 'run' or 'uses', not both"],
    ],
    [
      "an environment that is a list",
      `${TOP}  a:\n    runs-on: x\n    env: [A]\n`,
      ["5:10 'env' must be a map"],
    ],
    [
      "an unknown need",
      `${TOP}  a:\n    runs-on: x\n    needs: [b]\n`,
      ["5:13 The job 'a' needs the job 'b', which does not exist"],
    ],
    [
      "a need of itself",
      `${TOP}  a: { runs-on: x, needs: a }\n`,
      ["3:27 Jobs need each other in a circle: a needs a"],
    ],
    [
      "a circle, and an unknown need beside it",
      `${TOP}  a: { runs-on: x, needs: b }\n  b: { runs-on: x, needs: [c, d] }\n  c: { runs-on: x, needs: a }\n`,
      [
        "4:31 The job 'b' needs the job 'd', which does not exist",
        "5:27 Jobs need each other in a circle: a needs b needs c needs a",
      ],
    ],
    [
      "an expression without an end",
      `${TOP}  a:\n    runs-on: x\n    name: "b \${{ github.ref"\n`,
      ["5:14 The expression has no '}}'"],
    ],
    [
      "an empty expression",
      `${TOP}  a:\n    runs-on: x\n    env: { A: "\${{ }}" }\n`,
      ["5:16 There is no expression"],
    ],
    [
      "an expression of other quotes",
      `${TOP}  a:\n    runs-on: x\n    env: { A: '\${{ "b" }}' }\n`,
      ["5:16 Unexpected symbol: '\"b\"'. Located at position 2"],
    ],
    [
      "the second expression of a script",
      `${TOP}  a:\n    runs-on: x\n    steps:\n      - run: |\n          echo \${{ github.ref }}\n          echo b \${{ github. }}\n`,
      ["8:18 Unexpected symbol: 'EOF'"],
    ],
    [
      "a condition",
      `${TOP}  a:\n    if: github.ref = 'x'\n    runs-on: x\n`,
      ["4:9 Unexpected symbol: '='. Located at position 12"],
    ],
    [
      "too few values of a function",
      `${TOP}  a:\n    if: contains('x')\n    runs-on: x\n`,
      ["4:9 Too few parameters supplied: 'contains'"],
    ],
  ])("%s", async (_, text, faults) => {
    expect(await faultsOf(text)).toEqual(faults);
  });

  it("names several faults in the order of the file, at most twenty", async () => {
    const steps = Array.from({ length: 30 }, () => "      - name: a\n").join("");
    const faults = await faultsOf(`${TOP}  a:\n    needs: b\n    steps:\n${steps}`);
    expect(faults.slice(0, 3)).toEqual([
      "3:3 The job 'a' has no 'runs-on'",
      "4:12 The job 'a' needs the job 'b', which does not exist",
      "6:9 A step must have 'run' or 'uses'",
    ]);
    expect(faults).toHaveLength(20);
  });
});

describe("a hostile file is refused soon", () => {
  it("that is not UTF-8", async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode("on: push\nname: "), 0xff, 0x0a]);
    expect(await faultsOf(bytes)).toEqual(["The file is not UTF-8"]);
    expect(await faultsOf(new TextEncoder().encode(`name: é\non: push\n${JOBS}`))).toEqual([]);
  });

  it("that is large", async () => {
    expect(await faultsOf(`on: push\n${JOBS}#${"a".repeat(512 * 1024)}`)).toEqual([
      "A workflow file has at most 512 KiB",
    ]);
    expect(await faultsOf(`on: push\nx: [${"a,".repeat(60_000)}]\n${JOBS}`)).toEqual([
      "The file is too long: the text has more than 40000 parts",
    ]);
  });

  it("whose aliases stand for too much", async () => {
    const levels = Array.from({ length: 30 }, (_, level) =>
      level === 0 ? "a0: &a0 [x, x]" : `a${level}: &a${level} [*a${level - 1}, *a${level - 1}]`,
    );
    expect(await faultsOf(`${levels.join("\n")}\non: push\n${JOBS}`)).toEqual([
      "1:1 The aliases of the file stand for too much text",
    ]);
  });

  it.each([100, 10_000])("of %d levels", async (levels) => {
    const deep = `on: push\nx: ${"[".repeat(levels)}${"]".repeat(levels)}\n${JOBS}`;
    const [fault] = await faultsOf(deep);
    expect(fault).toMatch(/levels$/);
  });

  it("of too many jobs", async () => {
    const jobs = Array.from({ length: 300 }, (_, at) => `  j${at}: { runs-on: x }\n`).join("");
    expect(await faultsOf(`${TOP}${jobs}`)).toEqual(["259:3 A workflow has at most 256 jobs"]);
  });

  it("whose jobs need each other in many ways", async () => {
    const ids = Array.from({ length: 120 }, (_, at) => `j${at}`);
    const jobs = ids.map(
      (id, at) => `  ${id}: { runs-on: x, needs: [${ids.slice(0, at).join()}] }\n`,
    );
    expect(await faultsOf(`${TOP}${jobs.join("")}`)).toEqual([]);
  });
});
