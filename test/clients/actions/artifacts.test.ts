import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

import { beforeAll, describe, expect, it, vi } from "vitest";

import { admin, callApi, makeRepo, makeToken, type Repo, serviceUrl } from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { tryProgram } from "../support/run-program.ts";

/** Where `.ci/install-clients` puts the packages of actions. */
const PACKAGES = resolve("node_modules/.cache/npm-actions/node_modules");
const PROGRAM = resolve("test/clients/actions/artifact-client.mjs");
const packageOf = (version: string): string => join(PACKAGES, `artifact-${version}`);
const areInstalled = ["v1", "v2", "v6"].every((version) => existsSync(packageOf(version)));
if (!areInstalled) console.log("no packages of actions: their tests are skipped");

const FILE = `
on: workflow_dispatch
jobs:
  build:
    runs-on: linux
    steps: [{ run: make }]
`;

/** A call of a runner, as JSON. */
async function callRunnerService<T>(method: string, message: object, headers = {}): Promise<T> {
  const response = await fetch(`${serviceUrl}/api/actions/runner.v1.RunnerService/${method}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Connect-Protocol-Version": "1", ...headers },
    body: JSON.stringify(message),
  });
  if (!response.ok) throw new Error(`${method}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

interface Task {
  readonly id: string;
  readonly context: Readonly<Record<string, string>>;
}

interface Job {
  readonly repo: Repo;
  readonly runId: string;
  /** What the runner gives the steps of the job. */
  readonly env: Readonly<Record<string, string>>;
  end(): Promise<void>;
}

/** Starts a workflow by hand, and takes its job as a runner does. */
async function startJob(): Promise<Job> {
  const repo = await makeRepo(admin, { auto_init: true });
  await callApi(admin, "POST", `${repo.path}/contents/.gitea/workflows/ci.yml`, {
    content: Buffer.from(FILE).toString("base64"),
    message: "Add a workflow",
  });
  const actions = `${repo.path}/actions`;
  const { token } = await callApi<{ token: string }>(
    admin,
    "GET",
    `${actions}/runners/registration-token`,
  );
  // Workflows are read, and jobs begin to wait, after the answers.
  const waiting = { timeout: 20_000, interval: 100 };
  const dispatch = () =>
    callApi(admin, "POST", `${actions}/workflows/ci.yml/dispatches`, { ref: "main" });
  await vi.waitFor(dispatch, waiting);
  const { runner } = await callRunnerService<{ runner: { uuid: string; token: string } }>(
    "Register",
    { name: "runner", token, labels: ["linux"], version: "1" },
  );
  const credential = { "X-Runner-Uuid": runner.uuid, "X-Runner-Token": runner.token };
  const { id, context } = await vi.waitFor(async () => {
    const fetched = await callRunnerService<{ task?: Task }>("FetchTask", {}, credential);
    if (!fetched.task) throw new Error("no job waits");
    return fetched.task;
  }, waiting);
  const runId = context["run_id"] ?? "";
  return {
    repo,
    runId,
    env: {
      ACTIONS_RUNTIME_TOKEN: context["gitea_runtime_token"] ?? "",
      ACTIONS_RESULTS_URL: serviceUrl,
      ACTIONS_RUNTIME_URL: `${serviceUrl}/api/actions_pipeline/`,
      GITHUB_RUN_ID: runId,
      GITHUB_API_URL: `${serviceUrl}/api/v1`,
      // The packages refuse other hosts than GitHub's and this one.
      GITHUB_SERVER_URL: "http://forge.localhost",
    },
    end: async () => {
      const state = { id, result: "RESULT_SUCCESS" };
      await callRunnerService("UpdateTask", { state }, credential);
    },
  };
}

/** Runs a step with one of the packages. */
async function step(
  { env }: Pick<Job, "env">,
  version: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Record<string, unknown> & { refused?: string }> {
  const directory = makeDirectory();
  const { output, stdout } = await tryProgram(
    process.execPath,
    [PROGRAM, packageOf(version), ...args],
    { directory, env: { ...env, GITHUB_WORKSPACE: directory, RUNNER_TEMP: directory, ...more } },
  );
  const [, kind, text = ""] = /^(result|refused) (.*)$/m.exec(stdout) ?? [];
  if (kind === "refused") return { refused: text };
  if (kind !== "result") throw new Error(output);
  return JSON.parse(text) as Record<string, unknown>;
}

const FILES: Readonly<Record<string, Buffer>> = {
  "large.bin": randomBytes(20 * 1024 * 1024),
  "text.txt": Buffer.from("again ".repeat(100_000)),
  "nested/deep/small.txt": Buffer.from("small"),
  "nested/empty.txt": Buffer.alloc(0),
  "nested/Ünïcode name.txt": Buffer.from("name"),
};

/** Writes files of several sizes into a new folder. */
function makeFiles(): string {
  const folder = makeDirectory();
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** The files of a folder by their paths. */
function readFiles(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile());
  return new Map(
    paths
      .map((path) => [relative(folder, path), readFileSync(path).toString("base64")] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

describe.skipIf(!areInstalled).each(["v2", "v6"])("@actions/artifact, %s", (version) => {
  let job: Job;
  beforeAll(async () => {
    job = await startJob();
  }, 60_000);

  it("uploads files, lists and downloads them, and knows their hash", async () => {
    const folder = makeFiles();
    const uploaded = await step(job, version, ["upload", "build", folder]);
    expect(uploaded).toMatchObject({ id: expect.any(Number), size: expect.any(Number) });
    const listed = await step(job, version, ["list"]);
    expect(listed).toMatchObject({
      artifacts: [{ name: "build", id: uploaded["id"], size: uploaded["size"] }],
    });
    const target = makeDirectory();
    const downloaded = await step(job, version, ["download", "build", target]);
    expect(downloaded["digestMismatch"] ?? false).toBe(false);
    expect(readFiles(target)).toEqual(readFiles(folder));
  }, 60_000);

  it("downloads them from another workflow, by API", async () => {
    const target = makeDirectory();
    const [repositoryOwner, repositoryName] = [job.repo.owner, job.repo.name];
    const token = await makeToken(admin, "read:repository");
    const findBy = { token, workflowRunId: Number(job.runId), repositoryOwner, repositoryName };
    const downloaded = await step(job, version, ["download", "build", target], {
      FIND_BY: JSON.stringify(findBy),
    });
    expect(downloaded["refused"]).toBeUndefined();
    expect(readFiles(target)).toEqual(readFiles(makeFiles()));
  }, 60_000);

  it("refuses a name a second time, unless the first is deleted", async () => {
    const small = makeDirectory();
    writeFileSync(join(small, "a.txt"), "new");
    expect(await step(job, version, ["upload", "build", small])).toMatchObject({
      refused: expect.stringContaining("already exists"),
    });
    await step(job, version, ["delete", "build"]);
    expect(await step(job, version, ["delete", "build"])).toMatchObject({
      refused: expect.stringContaining("not found"),
    });
    await step(job, version, ["upload", "build", small]);
    const target = makeDirectory();
    await step(job, version, ["download", "build", target]);
    expect(readFiles(target)).toEqual(readFiles(small));
  }, 60_000);

  it("is refused when the job has ended", async () => {
    await job.end();
    expect(await step(job, version, ["list"])).toMatchObject({
      refused: expect.stringContaining("401"),
    });
  }, 60_000);
});

describe.skipIf(!areInstalled)("@actions/artifact, v1", () => {
  it("uploads and downloads files, which the API has as a zip", async () => {
    const job = await startJob();
    const folder = makeFiles();
    expect(await step(job, "v1", ["upload", "build", folder])).toMatchObject({ failedItems: [] });
    const target = makeDirectory();
    await step(job, "v1", ["download", "build", target]);
    expect(readFiles(target)).toEqual(readFiles(folder));
    const { artifacts } = await callApi<{ artifacts: readonly { id: number }[] }>(
      admin,
      "GET",
      `${job.repo.path}/actions/artifacts`,
    );
    const zip = makeDirectory();
    const url = `${serviceUrl}/api/v1${job.repo.path}/actions/artifacts/${artifacts[0]?.id}/zip`;
    const sent = await fetch(url);
    writeFileSync(join(zip, "build.zip"), Buffer.from(await sent.arrayBuffer()));
    await tryProgram("unzip", ["-q", "build.zip", "-d", "files"], { directory: zip });
    expect(readFiles(join(zip, "files"))).toEqual(readFiles(folder));
    await job.end();
  }, 120_000);
});

describe.skipIf(!areInstalled)("@actions/artifact, one file", () => {
  it("is stored and read as it is", async () => {
    const job = await startJob();
    const single = makeDirectory();
    writeFileSync(join(single, "page.html"), "<p>Hello");
    await step(job, "v6", ["upload", "ignored", single], { SKIP_ARCHIVE: "true" });
    const target = makeDirectory();
    await step(job, "v6", ["download", "page.html", target]);
    expect(readFiles(target)).toEqual(readFiles(single));
    await job.end();
  }, 60_000);
});
