import { existsSync } from "node:fs";
import { resolve } from "node:path";

import { describe, expect, it, vi } from "vitest";

import { admin, callApi, makeRepo, makeToken, type Repo, serviceUrl } from "../support/forge.ts";
import { commit, git, makeDirectory, makeWork } from "../support/git.ts";
import { type Outcome, tryProgram } from "../support/run-program.ts";

/** What `.ci/install-clients` builds of `runner`: messages and engine are Gitea's own. */
const RUNNER = resolve("node_modules/.cache/bin/actions-runner");
if (!existsSync(RUNNER)) console.log("no runner of actions: its tests are skipped");

const WORKFLOW = `
name: CI
on: push
jobs:
  build:
    runs-on: linux
    strategy: { matrix: { size: [1, 2] } }
    outputs:
      word: \${{ steps.made.outputs.word }}
    env: { KEY: "\${{ secrets.KEY }}" }
    steps:
      - id: made
        run: |
          echo "size \${{ matrix.size }} for \${{ vars.PLACE }} with $KEY"
          echo "word=made" >> "$GITHUB_OUTPUT"
          echo "COUNT=4" >> "$GITHUB_ENV"
      - run: test "$COUNT" = 4
  checkout:
    runs-on: linux
    needs: build
    steps:
      - run: |
          git clone --quiet "\${{ gitea.server_url }}/\${{ gitea.repository }}.git" work
          git -C work rev-parse HEAD
        env:
          GIT_CONFIG_COUNT: 1
          GIT_CONFIG_KEY_0: http.extraHeader
          GIT_CONFIG_VALUE_0: "Authorization: Bearer \${{ gitea.token }}"
      - run: test "\${{ needs.build.outputs.word }}" = made
  fails:
    runs-on: linux
    needs: build
    steps: [{ run: exit 3 }, { run: echo unreached }]
  tolerated:
    runs-on: linux
    continue-on-error: true
    steps: [{ run: "false" }]
  skipped:
    runs-on: linux
    needs: fails
    steps: [{ run: echo skipped }]
  always:
    runs-on: linux
    needs: [fails, checkout]
    if: always()
    steps:
      - run: echo "\${{ needs.fails.result }} \${{ needs.checkout.result }}"
`;

const SLOW = `
name: Slow
on: workflow_dispatch
jobs:
  sleeps: { runs-on: linux, steps: [{ run: sleep 60 }, { run: echo unreached }] }
`;

/** A private repository with a workflow, by one push. */
async function makeWorkflow(file: string): Promise<{ repo: Repo; head: string }> {
  const repo = await makeRepo(admin, { private: true });
  await callApi(admin, "PUT", `${repo.path}/actions/secrets/KEY`, { data: "hunter2hunter2" });
  await callApi(admin, "POST", `${repo.path}/actions/variables/PLACE`, { value: "here" });
  const work = await makeWork();
  const head = await commit(work, { ".gitea/workflows/ci.yml": file });
  await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  return { repo, head };
}

/** Runs tasks of a repository. */
async function startRunner(repo: Repo, tasks: number, protocol: "proto" | "json") {
  const { token } = await callApi<{ token: string }>(
    admin,
    "GET",
    `${repo.path}/actions/runners/registration-token`,
  );
  const args = [serviceUrl, token, "linux", String(tasks), protocol];
  return tryProgram(RUNNER, args, { directory: makeDirectory() });
}

interface Work {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly conclusion: string;
  readonly steps: readonly { readonly conclusion: string }[];
}

const jobsOf = async (repo: Repo): Promise<readonly Work[]> =>
  (await callApi<{ jobs: Work[] }>(admin, "GET", `${repo.path}/actions/jobs?limit=50`)).jobs;

const conclusionsOf = async (repo: Repo): Promise<Record<string, string>> =>
  Object.fromEntries((await jobsOf(repo)).map(({ name, conclusion }) => [name, conclusion]));

async function logOf(repo: Repo, name: string): Promise<string> {
  const job = (await jobsOf(repo)).find((each) => each.name === name);
  const url = `${serviceUrl}/api/v1${repo.path}/actions/jobs/${job?.id}/logs`;
  const authorization = `token ${await makeToken(admin, "read:repository")}`;
  const answer = await fetch(url, { headers: { authorization } });
  if (!answer.ok) throw new Error(`the log of ${name}: ${answer.status}`);
  return answer.text();
}

const expectEnded = ({ code, output }: Outcome): void => expect(code, output).toBe(0);

describe.skipIf(!existsSync(RUNNER))("the engine of Gitea's runner", () => {
  it.each(["proto", "json"] as const)("runs the jobs of a push, by %s", async (protocol) => {
    const { repo, head } = await makeWorkflow(WORKFLOW);
    expectEnded(await startRunner(repo, 6, protocol));

    expect(await conclusionsOf(repo)).toEqual({
      "build (1)": "success",
      "build (2)": "success",
      checkout: "success",
      fails: "failure",
      tolerated: "failure",
      skipped: "skipped",
      always: "success",
    });
    const failed = (await jobsOf(repo)).find(({ name }) => name === "fails");
    expect(failed?.steps.map(({ conclusion }) => conclusion)).toEqual(["failure", "skipped"]);
    const { workflow_runs: runs } = await callApi<{ workflow_runs: Work[] }>(
      admin,
      "GET",
      `${repo.path}/actions/runs`,
    );
    expect(runs).toMatchObject([{ status: "completed", conclusion: "failure" }]);
    const { statuses } = await callApi<{ statuses: { context: string; status: string }[] }>(
      admin,
      "GET",
      `${repo.path}/commits/${head}/status`,
    );
    expect(statuses).toContainEqual(
      expect.objectContaining({ context: "CI / checkout (push)", status: "success" }),
    );
    expect(statuses).toContainEqual(
      expect.objectContaining({ context: "CI / fails (push)", status: "failure" }),
    );

    const built = await logOf(repo, "build (1)");
    expect(built).toContain("size 1 for here with ***");
    expect(built).not.toContain("hunter2");
    expect(await logOf(repo, "checkout")).toContain(head);
    expect(await logOf(repo, "fails")).not.toContain("unreached");
    expect(await logOf(repo, "always")).toContain("failure success");
  });

  it("ends a job that is cancelled", async () => {
    const { repo } = await makeWorkflow(SLOW);
    const path = `${repo.path}/actions`;
    const start = () =>
      callApi(admin, "POST", `${path}/workflows/ci.yml/dispatches`, { ref: "main" });
    await vi.waitFor(start, { timeout: 20_000, interval: 100 });
    const ended = startRunner(repo, 1, "proto");
    await expect
      .poll(async () => (await jobsOf(repo)).map(({ status }) => status))
      .toEqual(["in_progress"]);
    const { workflow_runs: runs } = await callApi<{ workflow_runs: Work[] }>(
      admin,
      "GET",
      `${path}/runs`,
    );
    await callApi(admin, "POST", `${path}/runs/${runs[0]?.id}/cancel`);
    const outcome = await ended;
    expectEnded(outcome);
    expect(outcome.stdout).toContain("RESULT_CANCELLED");
    expect(await conclusionsOf(repo)).toEqual({ sleeps: "cancelled" });
    expect(await logOf(repo, "sleeps")).not.toContain("unreached");
  });
});
