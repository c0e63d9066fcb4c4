const STEPS = "    steps: [{ run: make }]\n";
const JOBS = `jobs:\n  build:\n    runs-on: linux\n${STEPS}`;
const TOP = "on: push\njobs:\n";
const JOB = `${TOP}  a:\n    runs-on: x\n`;

/**
 * Workflow files that runners of Gitea run, each with what GitHub's reader says of it; undefined
 * where that reads it as well.
 */
export const ACCEPTED_FILES: readonly [what: string, text: string, refusal?: RegExp][] = [
  ["an event that nobody knows", `on: [push, teapot]\n${JOBS}`, /Unexpected value 'teapot'/],
  ["an event of Gitea's", `on: [push, package]\n${JOBS}`, /Unexpected value 'package'/],
  [
    "a type that nobody knows",
    `on: { issues: { types: [teapot] } }\n${JOBS}`,
    /Unexpected value 'teapot'/,
  ],
  ["a text for filters", `on: { push: main }\n${JOBS}`, /Unexpected value 'main'/],
  [
    "a filter that an event does not have",
    `on: { pull_request: { tags: [a] } }\n${JOBS}`,
    /'tags'/,
  ],
  ["a schedule alone", `on: { schedule: [{ cron: "0 0 * * *" }] }\n${JOBS}`],
  ["a schedule with a name", `on: { schedule: [{ cron: "@daily" }] }\n${JOBS}`, /Invalid cron/],
  [
    "a schedule with Gitea's zone",
    `on: { schedule: [{ cron: "TZ=Europe/Berlin 0 0 * * *" }] }\n${JOBS}`,
    /Invalid cron/,
  ],
  ["both kinds of a filter", `on: { push: { branches: [a], branches-ignore: [b] } }\n${JOBS}`],
  ["a key that nobody knows", `colour: red\non: push\n${JOBS}`, /'colour'/],
  ["a key of an event that nobody knows", `on: { push: { colour: red } }\n${JOBS}`, /'colour'/],
  ["a key of a job that nobody knows", `on: push\n${JOBS}    hue: 1\n`, /'hue'/],
  ["a permission that nobody knows", `on: push\npermissions: { x: write }\n${JOBS}`, /'x'/],
  ["an address of an action", `${JOB}    steps: [{ uses: "https://gitea.com/a/b@v4" }]\n`],
  ["any label", `${TOP}  a:\n    runs-on: [my-own, "ubuntu:docker://node:16"]\n${STEPS}`],
  ["a job without steps", JOB],
  ["a called workflow without 'runs-on'", `${TOP}  a:\n    uses: ./.gitea/workflows/b.yml\n`],
  [
    "a job whose name is no identifier",
    `${TOP}  "1. build":\n    runs-on: x\n${STEPS}`,
    /identifier '1. build' is invalid/,
  ],
  ["secrets in a condition", `${JOB}    if: secrets.KEY != ''\n${STEPS}`, /named-value: 'secrets'/],
  ["Gitea's own context", `${JOB}    if: gitea.ref == 'x'\n${STEPS}`, /named-value: 'gitea'/],
  [
    "a context that nobody knows",
    `${JOB}    env: { A: "\${{ x.y }}" }\n${STEPS}`,
    /named-value: 'x'/,
  ],
  ["a function that nobody knows", `${JOB}    if: teapot(1)\n${STEPS}`, /function: 'teapot'/],
  ["the environment in a name", `${JOB}    name: \${{ env.A }}\n${STEPS}`, /named-value: 'env'/],
  ["a time as a text", `${JOB}    timeout-minutes: "5"\n${STEPS}`, /Unexpected value '5'/],
  ["one value of a matrix", `${JOB}    strategy: { matrix: { v: one } }\n${STEPS}`, /'one'/],
  ["a second document", `on: push\n${JOBS}---\n1\n`, /multiple documents/],
  [
    "maps that are merged",
    `env: &a { A: 1 }\n${JOB}    env: { <<: *a }\n${STEPS}`,
    /A mapping was not expected/,
  ],
  [
    "an input without options",
    `on: { workflow_dispatch: { inputs: { a: { type: choice } } } }\n${JOBS}`,
    /Missing 'options'/,
  ],
  [
    "an input without anything",
    `on: { workflow_dispatch: { inputs: { a: } } }\n${JOBS}`,
    /Unexpected value ''/,
  ],
  [
    "a default outside of the options",
    `on: { workflow_dispatch: { inputs: { a: { type: choice, options: [x], default: z } } } }\n${JOBS}`,
  ],
  ["a byte order mark", `\ufeffon: push\n${JOBS}`],
  ["line ends of Windows", `on: push\n${JOBS}`.replaceAll("\n", "\r\n")],
  ["`if` as an input", `${JOB}    steps: [{ uses: ./a, with: { if: a b c } }]\n`],
];
