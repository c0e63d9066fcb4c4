import { eq } from "drizzle-orm";

import {
  type WorkflowArtifact,
  workflowArtifactFiles,
  workflowArtifactParts,
  workflowArtifacts,
  workflowJobs,
  type WorkflowRun,
  type WorkflowTask,
  workflowTasks,
} from "../../src/db/schema/index.ts";
import { makeRuntimeToken } from "../../src/domain/actions/tasks/runtime-token.ts";
import { only } from "../../src/lib/only.ts";
import { actionsCtx, makeJob, makeRun, NOW, visitRunnerDoor } from "./actions.ts";
import { db } from "./db.ts";
import { make, type TestRepo, type TestUser } from "./make.ts";

/** A job that stores and reads artifacts. */
export interface ArtifactJob {
  readonly owner: TestUser;
  readonly repo: TestRepo;
  readonly task: WorkflowTask;
  readonly token: string;
}

/** A job that runs, of a run of its own or the one that is given. */
export async function makeArtifactJob(other?: ArtifactJob): Promise<ArtifactJob> {
  const owner = other?.owner ?? (await make.user());
  const repo = other?.repo ?? (await make.repo(owner));
  const run = other ? { id: other.task.runId, repoId: repo.id } : await makeRun(repo);
  const job = await makeJob(run, repo, {
    state: "running",
    readySequence: 0,
  });
  const row = {
    jobId: job.id,
    runId: run.id,
    repoId: repo.id,
    attempt: 1,
    runnerId: 0,
    runnerName: "runner",
    state: "running" as const,
    tokenHash: crypto.randomUUID(),
    steps: [],
    startedAt: NOW,
    updatedAt: NOW,
  };
  const task = only(await db.insert(workflowTasks).values(row).returning());
  await db.update(workflowJobs).set({ taskId: task.id }).where(eq(workflowJobs.id, job.id));
  return { owner, repo, task, token: await makeRuntimeToken(actionsCtx(Date.now()), task) };
}

/** An artifact of one file, `Hello`, unless `fields` say something else. */
export async function makeArtifact(
  { id: runId, repoId }: Pick<WorkflowRun, "id" | "repoId">,
  fields: Partial<WorkflowArtifact> = {},
): Promise<WorkflowArtifact> {
  const content = new TextEncoder().encode("Hello");
  const row = {
    runId,
    repoId,
    runAttempt: 1,
    taskId: 0,
    name: "result",
    isArchive: true,
    mimeType: "application/zip",
    state: "ready" as const,
    sizeBytes: content.length,
    sha256: "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969",
    createdAt: NOW,
    updatedAt: NOW,
    expiresAt: Date.now() + 86_400_000,
    ...fields,
  };
  const artifact = only(await db.insert(workflowArtifacts).values(row).returning());
  const part = { uuid: crypto.randomUUID(), sizeBytes: content.length };
  const body = new Blob([content]).stream();
  await actionsCtx().git.artifactFiles.receive(artifact.id, part, body, undefined);
  const stored = { storedBytes: content.length, sizeBytes: content.length, isWhole: true };
  const file = only(
    await db
      .insert(workflowArtifactFiles)
      .values({ artifactId: artifact.id, path: row.isArchive ? "" : "hello.txt", ...stored })
      .returning(),
  );
  await db
    .insert(workflowArtifactParts)
    .values({ fileId: file.id, name: "block-1", position: 0, ...part });
  return artifact;
}

/** Ends the task of a job. */
export const endTask = ({ task }: ArtifactJob): Promise<unknown> =>
  db
    .update(workflowTasks)
    .set({ state: "success", stoppedAt: NOW })
    .where(eq(workflowTasks.id, task.id));

/** An answer with its body: of JSON, or as a text. */
export interface DoorAnswer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies of several services.
  readonly body: any;
}

/** Sends a request to the service. */
export async function send(
  method: string,
  url: string,
  init: { readonly headers?: Record<string, string>; readonly body?: string | Uint8Array } = {},
): Promise<DoorAnswer> {
  const { headers = {}, body } = init;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const request = new Request(new URL(url, "http://forge.test"), {
    method,
    headers: {
      ...headers,
      ...(bytes && !("Content-Length" in headers) && { "Content-Length": String(bytes.length) }),
    },
    ...(bytes && { body: bytes as Uint8Array<ArrayBuffer> }),
  });
  const response = await visitRunnerDoor(request);
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  const text = new TextDecoder().decode(await response.arrayBuffer());
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}

const SERVICE = "/twirp/github.actions.results.api.v1.ArtifactService";

/** Calls the service of the fourth version as a job. */
export function callService(
  { task, token }: ArtifactJob,
  method: string,
  message: object = {},
): Promise<DoorAnswer> {
  return send("POST", `${SERVICE}/${method}`, {
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      workflow_run_backend_id: String(task.runId),
      workflow_job_run_backend_id: String(task.jobId),
      ...message,
    }),
  });
}

/** Begins an artifact, and returns the address to which it is uploaded. */
export async function beginUpload(job: ArtifactJob, name: string): Promise<string> {
  const { status, body } = await callService(job, "CreateArtifact", { name, version: 4 });
  if (status !== 200) throw new Error(`CreateArtifact: ${status} ${JSON.stringify(body)}`);
  return body.signedUploadUrl;
}

export const putBlock = (
  url: string,
  id: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<DoorAnswer> =>
  send("PUT", `${url}&comp=block&blockid=${encodeURIComponent(btoa(id))}`, { body, headers });

export const putBlockList = (url: string, ids: readonly string[]): Promise<DoorAnswer> =>
  send("PUT", `${url}&comp=blocklist`, {
    body: `<?xml version="1.0" encoding="utf-8"?><BlockList>${ids
      .map((id) => `<Latest>${btoa(id)}</Latest>`)
      .join("")}</BlockList>`,
  });

/** Uploads an artifact in one block. */
export async function upload(job: ArtifactJob, name: string, content: string): Promise<number> {
  const url = await beginUpload(job, name);
  await putBlock(url, "block-1", content);
  await putBlockList(url, ["block-1"]);
  const { body } = await callService(job, "FinalizeArtifact", {
    name,
    size: String(new TextEncoder().encode(content).length),
  });
  return Number(body.artifactId);
}
