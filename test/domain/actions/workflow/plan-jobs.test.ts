import { describe, expect, it } from "vitest";

import type { WorkflowFault } from "../../../../src/db/schema/actions.ts";
import { type Contexts, evaluate } from "../../../../src/domain/actions/workflow/expressions.ts";
import { planJobs, type PlannedJob } from "../../../../src/domain/actions/workflow/plan-jobs.ts";
import { readWorkflow } from "../../../../src/domain/actions/workflow/read-workflow.ts";

const CONTEXTS: Contexts = {
  github: { ref: "refs/heads/main", event: { title: "${{ secrets.KEY }}" } },
  vars: { VERSIONS: "[18, 20]", POOL: "Large", NONE: "[]", WAIT: "7.5", MANY: "[1,2,3,4,5,6,7]" },
  inputs: { target: "staging", dry: true },
};

/** The jobs, or the faults, of a file whose jobs are given. */
async function plan(
  jobs: string,
  top = "on: push",
): Promise<{ jobs: readonly PlannedJob[] } | { faults: readonly WorkflowFault[] }> {
  const read = await readWorkflow(".gitea/workflows/ci.yml", `${top}\njobs:\n${jobs}`);
  return read.kind === "faulty" ? read : planJobs(read.workflow, CONTEXTS);
}

async function planned(jobs: string, top?: string): Promise<readonly PlannedJob[]> {
  const result = await plan(jobs, top);
  if ("faults" in result) throw new Error(JSON.stringify(result.faults));
  return result.jobs;
}

/** Faults as `line:column message`. */
async function faultsOf(jobs: string): Promise<string[]> {
  const result = await plan(jobs);
  if (!("faults" in result)) return [];
  return result.faults.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

/** The only job of a file, with these keys. */
async function only(keys: string): Promise<PlannedJob> {
  const [job, ...others] = await planned(`  a:\n    ${keys}\n`);
  expect(others).toEqual([]);
  return job as PlannedJob;
}

/** The values of each job of a matrix, as the runner gets them. */
async function valuesOf(matrix: string): Promise<unknown[]> {
  const names = await planned(
    `  a:\n    name: "\${{ toJSON(matrix) }}"\n    runs-on: x\n    strategy: { matrix: ${matrix} }\n`,
  );
  return names.map(({ name }) => JSON.parse(name) as unknown);
}

describe("a job", () => {
  it("has what the file says, and defaults for the rest", async () => {
    const top =
      "name: CI\nrun-name: x\non: push\nenv: { A: 3.10 }\ndefaults: { run: { shell: sh } }";
    const jobs = "  build:\n    runs-on: Ubuntu-Latest\n    steps: [{ run: make }]\n";
    expect(await planned(jobs, top)).toEqual([
      {
        jobId: "build",
        name: "build",
        needs: [],
        hasCondition: false,
        labels: ["ubuntu-latest"],
        payload: `name: CI
on: push
env:
  A: 3.10
defaults:
  run:
    shell: sh
jobs:
  build:
    name: build
    runs-on: Ubuntu-Latest
    steps:
      -
        run: make
`,
        continuesOnError: false,
        timeoutMinutes: 360,
        permissions: {
          actions: "write",
          contents: "write",
          issues: "write",
          packages: "write",
          "pull-requests": "write",
          statuses: "write",
        },
        failsFast: true,
        maxParallel: null,
      },
    ]);
  });

  it("has the permissions of the file, unless it has its own", async () => {
    const top = "on: push\npermissions: { contents: read }";
    const jobs = "  a: { runs-on: x }\n  b: { runs-on: x, permissions: { issues: write } }\n";
    expect((await planned(jobs, top)).map(({ permissions }) => permissions)).toEqual([
      { contents: "read" },
      { issues: "write" },
    ]);
  });

  it.each([
    ["runs-on: x", []],
    ["{ runs-on: x, if: always() }", ["if"]],
    ["{ runs-on: x, if: false }", ["if"]],
    ["{ runs-on: x, if: '' }", []],
  ])("with `%s` has a condition: %j", async (keys, expected) => {
    expect((await only(keys)).hasCondition).toBe(expected.length > 0);
  });

  it.each([
    ["x", ["x"]],
    ["[Self-Hosted, linux, LINUX]", ["self-hosted", "linux"]],
    ["{ group: big, labels: [linux] }", ["linux", "big"]],
    ["{ group: big }", ["big"]],
    ["'${{ vars.POOL }}'", ["large"]],
    ["['${{ vars.POOL }}', \"x-${{ 1 == 1 && 'y' }}\"]", ["large", "x-y"]],
    ['"${{ fromJSON(\'[1, \\"b\\"]\') }}"', ["1", "b"]],
    ["{ labels: \"${{ fromJSON('[1]') }}\" }", ["1"]],
  ])("on `%s` waits for the labels %j", async (runsOn, labels) => {
    expect((await only(`runs-on: ${runsOn}`)).labels).toEqual(labels);
  });

  it("has evaluated times, names and flags", async () => {
    const job = await only(
      "{ runs-on: x, timeout-minutes: '${{ fromJSON(vars.WAIT) }}', " +
        "continue-on-error: '${{ inputs.dry }}', name: 'to ${{ inputs.target }}' }",
    );
    expect(job).toMatchObject({
      timeoutMinutes: 8,
      continuesOnError: true,
      name: "to staging",
    });
  });

  // Gitea shows the name without what only the runner knows.
  it("has a name in which what only a runner knows is empty", async () => {
    const name = "name: '[${{ env.A }}${{ secrets.B }}${{ needs.c.result }}]'";
    expect(await only(`{ runs-on: x, ${name} }`)).toMatchObject({ name: "[]" });
    expect(await only("{ runs-on: x, name: '${{ env.A }}' }")).toMatchObject({ name: "a" });
  });

  it("that calls a workflow runs on each runner", async () => {
    const job = await only("{ uses: ./b.yml, with: { c: 1 }, secrets: inherit }");
    expect(job.labels).toEqual([]);
    expect(job.payload).toContain(
      '    uses: "./b.yml"\n    with:\n      c: 1\n    secrets: inherit',
    );
  });

  it("keeps its needs out of what the runner gets", async () => {
    const jobs = "  a: { runs-on: x }\n  b: { runs-on: x, needs: [a, a] }\n";
    const [, second] = await planned(jobs);
    expect(second).toMatchObject({ jobId: "b", needs: ["a"] });
    expect(second?.payload).not.toMatch(/needs|  a:/);
  });
});

describe("a group of jobs", () => {
  it("is evaluated", async () => {
    const { concurrency } = await only(
      "{ runs-on: x, concurrency: { group: 'g-${{ github.ref }}', cancel-in-progress: '${{ inputs.dry }}' } }",
    );
    expect(concurrency).toEqual({
      group: "g-refs/heads/main",
      isEvaluated: true,
      cancelsInProgress: true,
    });
  });

  it("that needs the results of others is evaluated when they are there", async () => {
    const group = '"${{ needs.a.outputs.it }}-${{ matrix.v }}-${{ github.matrix }}\'s"';
    const jobs = `  a: { runs-on: x }
  b:
    runs-on: x
    needs: a
    strategy: { matrix: { v: ["it's"] } }
    concurrency: ${group}
`;
    const [, job] = await planned(jobs);
    expect(job?.concurrency).toMatchObject({ isEvaluated: false, cancelsInProgress: false });
    const needs = { a: { outputs: { it: "done" } } };
    const later = await evaluate(job?.concurrency?.group ?? "", { ...CONTEXTS, needs });
    expect(later).toBe("done-it's-'s");
  });
});

describe("a matrix", () => {
  it("has all combinations, the last name first, and names that say which", async () => {
    const jobs = await planned(
      "  a:\n    runs-on: '${{ matrix.os }}'\n    strategy:\n      fail-fast: false\n" +
        "      max-parallel: 2\n      matrix: { os: [linux, Mac], v: [1, 2.0] }\n",
    );
    expect(jobs.map(({ name, labels }) => [name, ...labels])).toEqual([
      ["a (linux, 1)", "linux"],
      ["a (linux, 2)", "linux"],
      ["a (Mac, 1)", "mac"],
      ["a (Mac, 2)", "mac"],
    ]);
    expect(jobs[3]).toMatchObject({ jobId: "a", failsFast: false, maxParallel: 2 });
    expect(jobs[3]?.payload).toContain(`    runs-on: Mac
    strategy:
      fail-fast: false
      max-parallel: 2
      matrix:
        os:
          - Mac
        v:
          - 2
`);
  });

  it.each([
    ["{ a: [1, 2], exclude: [{ a: 1 }] }", [{ a: 2 }]],
    ["{ a: [1, 2], b: [x, y], exclude: [{ a: 1, b: y }, { a: 2 }] }", [{ a: 1, b: "x" }]],
    ["{ a: [{ c: 1, d: 2 }, { c: 2 }], exclude: [{ a: { c: 1 } }] }", [{ a: { c: 2 } }]],
    ["{ a: [1, '1'], exclude: [{ a: '1' }] }", [{ a: 1 }]],
    ["{ include: [{ a: 1 }, { b: 2 }] }", [{ a: 1 }, { b: 2 }]],
    [
      "{ a: [1, 2], include: [{ b: 3 }] }",
      [
        { a: 1, b: 3 },
        { a: 2, b: 3 },
      ],
    ],
    ["{ a: [1, 2], include: [{ a: 2, b: 3 }] }", [{ a: 1 }, { a: 2, b: 3 }]],
    ["{ a: [1], include: [{ a: 4, b: 3 }] }", [{ a: 1 }, { a: 4, b: 3 }]],
    ["{ a: [1], exclude: [{ a: 1 }], include: [{ a: 1 }] }", [{ a: 1 }]],
    ["{ a: ['${{ vars.POOL }}'] }", [{ a: "Large" }]],
    ["{ a: '${{ fromJSON(vars.VERSIONS) }}' }", [{ a: 18 }, { a: 20 }]],
    ['"${{ fromJSON(\'{\\"a\\": [1, 2]}\') }}"', [{ a: 1 }, { a: 2 }]],
    ["{ a: one }", [{ a: "one" }]],
    // The example of GitHub's documentation.
    [
      "{ fruit: [apple, pear], animal: [cat, dog], include: [{ color: green }, " +
        "{ color: pink, animal: cat }, { fruit: apple, shape: circle }, { fruit: banana }, " +
        "{ fruit: banana, animal: cat }] }",
      [
        { fruit: "apple", animal: "cat", color: "pink", shape: "circle" },
        { fruit: "apple", animal: "dog", color: "green", shape: "circle" },
        { fruit: "pear", animal: "cat", color: "pink" },
        { fruit: "pear", animal: "dog", color: "green" },
        { fruit: "banana" },
        { fruit: "banana", animal: "cat" },
      ],
    ],
  ])("%s", async (matrix, expected) => {
    expect(await valuesOf(matrix)).toEqual(expected);
  });

  it("names a job by all values, or as the file says", async () => {
    const named = (name: string) =>
      planned(
        `  a: { name: "${name}", runs-on: x, strategy: { matrix: { v: [{ b: 1, c: [2, ''] }] } } }\n`,
      );
    expect(await named("Test")).toMatchObject([{ name: "Test (1, 2, )" }]);
    expect(await named("Test ${{ matrix.v.b }}")).toMatchObject([{ name: "Test 1" }]);
    const [long] = await named("x".repeat(300));
    expect(long?.name).toHaveLength(255);
  });

  it("knows the place of each job", async () => {
    const jobs = await planned(
      '  a: { name: "${{ strategy.job-index }}/${{ strategy.job-total }}", runs-on: x, ' +
        "strategy: { matrix: { v: [a, b] } } }\n",
    );
    expect(jobs.map(({ name }) => name)).toEqual(["0/2", "1/2"]);
  });
});

describe("what the runner gets", () => {
  // Whoever names a branch or a pull request would read secrets by it.
  it("evaluates no values again", async () => {
    const jobs = await planned(`  a:
    name: \${{ github.event.title }}
    runs-on: \${{ github.event.title }}
    strategy: { matrix: { v: ["\${{ github.event.title }}"] } }
    steps: [{ run: "echo \${{ secrets.OWN }}" }]
`);
    expect(jobs).toMatchObject([{ name: "${{ secrets.KEY }}", labels: ["${{ secrets.key }}"] }]);
    const { payload = "" } = jobs[0] ?? {};
    expect(payload.match(/\$\{\{ '\$\{\{' \}\} secrets\.KEY \}\}/g)).toHaveLength(3);
    expect(payload).toContain("echo ${{ secrets.OWN }}");
    const value = /- "(.*KEY.*)"/.exec(payload)?.[1] ?? "";
    expect(await evaluate(value, CONTEXTS)).toBe("${{ secrets.KEY }}");
  });

  it("is what stands in the file, with its aliases written out", async () => {
    const jobs = await planned(
      `  a:
    runs-on: x
    env: &shared { A: 0x1F, B: 3.10, C: "3.10", D: , E: yes, F: "yes", G: ~, H: 'true', I: 1_000 }
    steps:
      - run: |
          echo "a"\t\\
            é \u0085
        env: { <<: *shared, B: b }
      - { run: "x", with: {}, list: [], nested: [[1, 2]] }
`,
    );
    expect(jobs[0]?.payload).toContain(`    env:
      A: 0x1F
      B: 3.10
      C: "3.10"
      D: null
      E: yes
      F: "yes"
      G: null
      H: "true"
      I: "1_000"
    steps:
      -
        run: "echo \\"a\\"\\t\\\\\\n  é \\u0085\\n"
        env:
          B: b
          A: 0x1F
`);
    expect(jobs[0]?.payload).toContain(`        with: {}
        list: []
        nested:
          -
            - 1
            - 2
`);
  });

  it("can be read again, with the same jobs", async () => {
    const jobs = await planned(`  a:
    runs-on: [x, y]
    if: always() && github.ref != 'it''s'
    strategy: { matrix: { v: [1, "2", null, true], include: [{ w: { z: [1] } }] } }
    steps: [{ run: "a: b # c\\n- d" }]
`);
    for (const { payload, name, labels } of jobs) {
      const read = await readWorkflow(".gitea/workflows/ci.yml", payload);
      if (read.kind === "faulty") throw new Error(JSON.stringify(read.faults));
      const again = await planJobs(read.workflow, CONTEXTS);
      expect(again).toMatchObject({
        jobs: [{ labels, name: expect.stringContaining(name) as string }],
      });
    }
  });
});

describe("a job that can't be planned says why and where", () => {
  it.each([
    [
      "an unknown name",
      "{ runs-on: '${{ teapot.x }}' }",
      "4:17 Unrecognized named-value: 'teapot'",
    ],
    [
      "secrets as labels",
      "{ runs-on: '${{ secrets.x }}' }",
      "4:17 Unrecognized named-value: 'secrets'",
    ],
    [
      "an empty label",
      "{ runs-on: '${{ vars.NOPE }}' }",
      "4:16 'runs-on' of 'a' has an empty label",
    ],
    ["a list without labels", "{ runs-on: [] }", "4:16 'runs-on' of 'a' has an empty label"],
    [
      "a time below 0",
      "{ runs-on: x, timeout-minutes: -1 }",
      "4:36 'timeout-minutes' must be a number above 0",
    ],
    [
      "a time in words",
      "{ runs-on: x, timeout-minutes: soon }",
      "4:36 'timeout-minutes' must be a number above 0",
    ],
    [
      "a matrix of results",
      "{ runs-on: x, strategy: { matrix: { v: '${{ fromJSON(needs.b.outputs.c) }}' } } }",
      "4:44 'needs' can't be used in a matrix",
    ],
    [
      "labels of results",
      "{ runs-on: '${{ needs.b.outputs.c }}' }",
      "4:16 'needs' can't be used in 'runs-on'",
    ],
    [
      "a matrix that is no map",
      "{ runs-on: x, strategy: { matrix: [1] } }",
      "4:39 A matrix must be a map",
    ],
    [
      "a matrix without values",
      "{ runs-on: x, strategy: { matrix: { v: '${{ fromJSON(vars.NONE) }}' } } }",
      "4:44 'v' of the matrix has no values",
    ],
    [
      "a matrix without jobs",
      "{ runs-on: x, strategy: { matrix: { v: [1], exclude: [{ v: 1 }] } } }",
      "4:39 The matrix has no jobs",
    ],
    [
      "an unknown name to exclude",
      "{ runs-on: x, strategy: { matrix: { v: [1], exclude: [{ w: 1 }] } } }",
      "4:58 'exclude' names 'w', which the matrix does not have",
    ],
    [
      "what is no list",
      "{ runs-on: x, strategy: { matrix: { v: [1], include: { w: 1 } } } }",
      "4:58 'include' must be a list of maps",
    ],
    ["no JSON", "{ runs-on: \"${{ fromJSON('x') }}\" }", "4:17 fromJSON gets no JSON: 'x'"],
    [
      "too many combinations",
      `{ runs-on: x, strategy: { matrix: { v: [${"1,".repeat(17)}], w: [${"1,".repeat(17)}] } } }`,
      "4:39 A matrix has at most 256 jobs",
    ],
    [
      "10,000 jobs by an expression",
      '{ runs-on: x, strategy: { matrix: "${{ fromJSON(format(\'{0}{1}{2}\', \'{\\"a\\":\', vars.MANY, \',\\"b\\":[1,2,3,4,5,6,7],\\"c\\":[1,2,3,4,5,6,7]}\')) }}" } }',
      "4:39 A matrix has at most 256 jobs",
    ],
  ])("%s", async (_, keys, fault) => {
    expect(await faultsOf(`  a:\n    ${keys}\n`)).toContain(fault.replace(/^4:/, "4:"));
  });

  it("that makes a run too long, or too large", async () => {
    const matrix =
      "strategy: { matrix: { v: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] } }";
    const many = Array.from({ length: 20 }, (_, at) => `  j${at}: { runs-on: x, ${matrix} }\n`);
    expect(await faultsOf(many.join(""))).toEqual(["19:3 A run has at most 256 jobs"]);
    const large = `  a:\n    runs-on: x\n    ${matrix}\n    env: { A: ${"x".repeat(500_000)}, B: 1 }\n`;
    expect(await faultsOf(large)).toEqual([]);
    expect(
      await faultsOf(
        `${large}  b: { runs-on: x, ${matrix}, env: { A: "${"\\t".repeat(2000)}" } }\n`,
      ),
    ).toEqual([]);
    const wide = `  a:\n    runs-on: x\n    strategy: { matrix: { v: [${"1,".repeat(200)}] } }\n    env: { A: ${"x".repeat(400_000)} }\n`;
    expect(await faultsOf(wide)).toEqual(["3:3 The jobs of the run are too large"]);
  });
});

describe("a run", () => {
  it("has the title and the group that the file says", async () => {
    const top =
      "run-name: by ${{ gitea.actor }}${{ inputs.target }}\non: push\n" +
      "concurrency: { group: '${{ github.ref }}', cancel-in-progress: '${{ inputs.dry }}' }";
    expect(await plan("  a: { runs-on: x }\n", top)).toMatchObject({
      title: "by staging",
      group: "refs/heads/main",
      cancelsInProgress: true,
    });
    expect(await plan("  a: { runs-on: x }\n")).toMatchObject({
      title: "",
      group: "",
      cancelsInProgress: false,
    });
  });

  it("says where its title can't be evaluated", async () => {
    const result = await plan("  a: { runs-on: x }\n", "run-name: x ${{ teapot }}\non: push");
    expect(result).toEqual({
      faults: [{ message: "Unrecognized named-value: 'teapot'", line: 1, column: 13 }],
    });
  });
});
