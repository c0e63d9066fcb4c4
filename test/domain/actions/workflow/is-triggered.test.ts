import { describe, expect, it } from "vitest";

import { isSkipped } from "../../../../src/domain/actions/workflow/is-skipped.ts";
import {
  isTriggered,
  type TriggeringEvent,
} from "../../../../src/domain/actions/workflow/is-triggered.ts";
import { readWorkflow } from "../../../../src/domain/actions/workflow/read-workflow.ts";

const MAIN = "refs/heads/main";

/** Whether an event starts a workflow with this `on`. */
async function starts(
  on: string,
  name: string,
  event: Partial<Omit<TriggeringEvent, "changedPaths">> = {},
  changed?: readonly string[] | "too many",
): Promise<boolean> {
  const text = `on: ${on}\njobs: { a: { runs-on: x } }\n`;
  const read = await readWorkflow("a.yml", text);
  if (read.kind === "faulty") throw new Error(JSON.stringify(read.faults));
  return isTriggered(read.workflow, name, {
    ref: MAIN,
    ...event,
    changedPaths: async () => {
      if (!changed) throw new Error("nobody needs the paths");
      return changed;
    },
  });
}

describe("an event", () => {
  it.each([
    ["push", "push", true],
    ["[push, issues]", "issues", true],
    ["{ push: }", "push", true],
    ["{ push: { branches: [] } }", "push", true],
    ["push", "issues", false],
    ["Push", "push", false],
  ])("under `on: %s`: %s is %s", async (on, name, expected) => {
    expect(await starts(on, name)).toBe(expected);
  });

  it.each([
    ["pull_request", "pull_request", "opened", true],
    ["pull_request", "pull_request", "synchronize", true],
    ["pull_request", "pull_request", "reopened", true],
    ["pull_request", "pull_request", "closed", false],
    ["pull_request_target", "pull_request_target", "labeled", false],
    ["{ pull_request: { types: [closed] } }", "pull_request", "closed", true],
    ["{ pull_request: { types: [closed] } }", "pull_request", "opened", false],
    ["{ pull_request: { types: closed } }", "pull_request", "closed", true],
    ["issues", "issues", "labeled", true],
    ["{ issues: { types: [opened, edited] } }", "issues", "edited", true],
    ["release", "release", "published", true],
  ])("`on: %s` of %s, %s, is %s", async (on, name, action, expected) => {
    expect(await starts(on, name, { action })).toBe(expected);
  });
});

describe("a filter of refs", () => {
  it.each([
    ["{ branches: [main] }", MAIN, true],
    ["{ branches: [main] }", "refs/heads/mains", false],
    ["{ branches: ['releases/*'] }", "refs/heads/releases/1", true],
    ["{ branches: ['releases/*'] }", "refs/heads/releases/1/2", false],
    ["{ branches: ['releases/**'] }", "refs/heads/releases/1/2", true],
    ["{ branches: ['**', '!releases/**'] }", "refs/heads/releases/1", false],
    ["{ branches: ['releases/**', '!releases/**-alpha'] }", "refs/heads/releases/1-alpha", false],
    ["{ branches: ['!main', main] }", MAIN, true],
    ["{ branches: [main, '!main'] }", MAIN, false],
    ["{ branches: ['!main'] }", "refs/heads/other", false],
    ["{ branches-ignore: [main] }", MAIN, false],
    ["{ branches-ignore: [main] }", "refs/heads/other", true],
    ["{ branches: ['*'], branches-ignore: [main] }", MAIN, false],
    // A file that filters one kind of ref wants no other kind.
    ["{ branches: [main] }", "refs/tags/main", false],
    ["{ branches-ignore: [x] }", "refs/tags/v1", false],
    ["{ tags: ['v*'] }", "refs/tags/v1", true],
    ["{ tags: ['v*'] }", "refs/heads/v1", false],
    ["{ tags-ignore: ['v*'] }", "refs/tags/v1", false],
    ["{ tags-ignore: ['v*'] }", "refs/tags/w1", true],
    ["{ branches: [main], tags: ['v*'] }", "refs/tags/v1", true],
    ["{ branches: [main], tags: ['v*'] }", MAIN, true],
    ["{ branches: [main], tags: ['v*'] }", "refs/heads/v1", false],
    ["", "refs/tags/v1", true],
  ])("`push: %s` for %s is %s", async (filters, ref, expected) => {
    expect(await starts(`{ push: ${filters} }`, "push", { ref })).toBe(expected);
  });

  it("of a pull request means its base", async () => {
    const event = { action: "opened", ref: "refs/pull/1/head", baseBranch: "main" };
    expect(await starts("{ pull_request: { branches: [main] } }", "pull_request", event)).toBe(
      true,
    );
    expect(await starts("{ pull_request: { branches: [x] } }", "pull_request", event)).toBe(false);
  });

  it("of a run that ended means its branch, beside its workflow", async () => {
    const on =
      "{ workflow_run: { workflows: [CI, 'Build *'], branches: [main], types: [completed] } }";
    const ended = { action: "completed", baseBranch: "main", workflowName: "CI" };
    expect(await starts(on, "workflow_run", ended)).toBe(true);
    expect(await starts(on, "workflow_run", { ...ended, workflowName: "Build all" })).toBe(true);
    expect(await starts(on, "workflow_run", { ...ended, workflowName: "Other" })).toBe(false);
    expect(await starts(on, "workflow_run", { ...ended, baseBranch: "x" })).toBe(false);
    expect(await starts(on, "workflow_run", { ...ended, action: "requested" })).toBe(false);
  });
});

describe("a pattern", () => {
  it.each([
    ["*", "a", true],
    ["*", "a/b", false],
    ["**", "a/b", true],
    ["*.js", "a.js", true],
    ["*.js", "a/b.js", false],
    ["**.js", "a/b.js", true],
    ["**/*.js", "b.js", true],
    ["**/docs/**", "docs/a", true],
    ["**/docs/**", "a/docs/b/c", true],
    ["**/docs/**", "adocs/b", false],
    ["docs/**", "docs", false],
    ["*.jsx?", "a.js", true],
    ["*.jsx?", "a.jsx", true],
    ["*.jsx?", "a.jsxx", false],
    ["v[12].[0-9]+.[0-9]+", "v1.10.2", true],
    ["v[12].[0-9]+.[0-9]+", "v3.1.2", false],
    ["v[12].[0-9]+.[0-9]+", "v1..2", false],
    ["[CB]at", "Cat", true],
    ["[CB]at", "cat", false],
    ["a.b", "axb", false],
    ["a\\*b", "a*b", true],
    ["a\\*b", "axb", false],
    ["+a", "+a", true],
    ["**/README.md", "README.md", true],
    ["**/a/**/b", "a/x/y/b", true],
    ["**/a/**/b", "a/b", true],
    ["ä?b", "b", true],
    ["😀+", "😀😀", true],
  ])("%s for %s is %s", async (pattern, path, expected) => {
    const on = `{ push: { paths: [${JSON.stringify(pattern)}] } }`;
    expect(await starts(on, "push", {}, [path])).toBe(expected);
  });

  it.each(["[ab", "a[]b", "[b-a]", "a\\", "a??", "*+"])("%s is a fault", async (pattern) => {
    const on = `{ push: { paths: [${JSON.stringify(pattern)}] } }`;
    await expect(starts(on, "push", {}, [])).rejects.toThrow(JSON.stringify(pattern).slice(1, -1));
  });

  // As a regular expression this would take longer than anybody waits.
  it("takes time that grows with its length alone", async () => {
    const on = `{ push: { paths: ['${"**a*a+".repeat(150)}b'] } }`;
    expect(await starts(on, "push", {}, ["a".repeat(1000)])).toBe(false);
  });
});

describe("a filter of paths", () => {
  it.each([
    ["{ paths: ['src/**'] }", ["README.md", "src/a"], true],
    ["{ paths: ['src/**'] }", ["README.md"], false],
    ["{ paths: ['src/**', '!src/docs/**'] }", ["src/docs/a"], false],
    ["{ paths: ['src/**', '!src/docs/**'] }", ["src/docs/a", "src/b"], true],
    ["{ paths: ['src/**'] }", [], false],
    ["{ paths: ['src/**'] }", "too many", true],
    ["{ paths-ignore: ['docs/**'] }", ["docs/a"], false],
    ["{ paths-ignore: ['docs/**'] }", ["docs/a", "b"], true],
    ["{ paths-ignore: ['docs/**', '!docs/b'] }", ["docs/b"], true],
    ["{ paths-ignore: ['docs/**'] }", "too many", true],
  ] as const)("`push: %s` for %j is %s", async (filters, changed, expected) => {
    expect(await starts(`{ push: ${filters} }`, "push", {}, changed)).toBe(expected);
  });

  it("asks for no paths of tags, or of branches that are filtered out", async () => {
    const on = "{ push: { branches: [x], tags: ['*'], paths: [a] } }";
    expect(await starts(on, "push", { ref: "refs/tags/v1" })).toBe(true);
    expect(await starts(on, "push", { ref: MAIN })).toBe(false);
  });
});

describe("a message", () => {
  it.each(["[skip ci]", "a\n\n[ci skip]", "[no ci] a", "[SKIP ACTIONS]", "x [actions skip]"])(
    "%j asks for no runs",
    (message) => {
      expect(isSkipped(message)).toBe(true);
    },
  );

  it.each(["skip ci", "[skip-ci]", "[ci]", ""])("%j does not", (message) => {
    expect(isSkipped(message)).toBe(false);
  });
});
