import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createTransport } from "@connectrpc/connect/protocol-connect";
import { createFetchClient } from "@connectrpc/connect/protocol";

import { gzip } from "../../src/actions-runner/gzip.ts";
import { PingService } from "../../src/actions-runner/messages/ping/v1/services_pb.ts";
import { RunnerService } from "../../src/actions-runner/messages/runner/v1/services_pb.ts";
import { createApp } from "../../src/app.ts";
import { hashSecret, makeSecret } from "../../src/auth/secret.ts";
import { parseConfig } from "../../src/config.ts";
import type { Ctx } from "../../src/context.ts";
import {
  type Runner,
  runners,
  workflowJobs,
  type WorkflowJob,
  workflowLogPieces,
  workflowRuns,
  type WorkflowRun,
  workflowTasks,
  type WorkflowTask,
} from "../../src/db/schema/index.ts";
import { formatLogRows } from "../../src/domain/actions/tasks/log-rows.ts";
import type { RunnerCredential } from "../../src/domain/actions/runners/runner-credential.ts";
import { only } from "../../src/lib/only.ts";
import { eq } from "drizzle-orm";
import { db } from "./db.ts";
import { freshName, type TestRepo } from "./make.ts";
import { SEALING_KEYS } from "./sealing.ts";
import { systemCtx, TEST_SETTINGS } from "./system.ts";

/** The time of tests in which nothing depends on it, in milliseconds. */
export const NOW = 1_000_000;

/** A context with a key, whose deferred work can be awaited. */
export function actionsCtx(now = NOW): Ctx & { settled(): Promise<void> } {
  const deferred: Promise<unknown>[] = [];
  const ctx = systemCtx({}, now, { SEALING_KEYS });
  return {
    ...ctx,
    defer: (work) => void deferred.push(work),
    settled: async () => {
      while (deferred.length > 0) await deferred.shift();
    },
  };
}

/** A runner with the token that it sends. */
export interface TestRunner extends Runner {
  readonly token: string;
  readonly credential: RunnerCredential;
}

/** A runner of the service, unless `fields` say whose it is. */
export async function makeRunner(fields: Partial<Runner> = {}): Promise<TestRunner> {
  const token = makeSecret();
  const row = {
    uuid: crypto.randomUUID(),
    name: freshName("runner"),
    tokenHash: await hashSecret(token),
    labels: ["linux"],
    lastOnlineAt: NOW,
    createdAt: NOW,
    ...fields,
  };
  const runner = only(await db.insert(runners).values(row).returning());
  return { ...runner, token, credential: { uuid: runner.uuid, tokenHash: runner.tokenHash } };
}

let numbers = 0;

/** A run that waits for a runner, without jobs. */
export async function makeRun(
  repo: TestRepo,
  fields: Partial<WorkflowRun> = {},
): Promise<WorkflowRun> {
  const row = {
    repoId: repo.id,
    number: ++numbers,
    file: "ci.yml",
    path: ".gitea/workflows/ci.yml",
    name: "CI",
    title: "Add a file",
    event: "push",
    cause: crypto.randomUUID(),
    payload: JSON.stringify({ ref: "refs/heads/main" }),
    ref: "refs/heads/main",
    headOid: "a".repeat(40),
    headBranch: "main",
    actorId: repo.ownerId,
    state: "waiting" as const,
    createdAt: NOW,
    updatedAt: NOW,
    ...fields,
  };
  return only(await db.insert(workflowRuns).values(row).returning());
}

/** The workflow file of a job with two steps. */
export const PAYLOAD = [
  "on: push",
  "jobs:",
  "  build:",
  "    runs-on: linux",
  "    steps:",
  "      - uses: actions/checkout@v4",
  "      - name: Test",
  "        run: make test",
  "",
].join("\n");

let positions = 0;

/** A job that waits for a runner with the label `linux`. */
export async function makeJob(
  run: Pick<WorkflowRun, "id" | "repoId">,
  repo: TestRepo,
  fields: Partial<WorkflowJob> = {},
): Promise<WorkflowJob> {
  positions += 1;
  const row = {
    runId: run.id,
    repoId: run.repoId,
    ownerId: repo.ownerId,
    position: positions,
    jobId: `build${positions}`,
    name: "build",
    needs: [],
    hasCondition: false,
    labels: ["linux"],
    payload: PAYLOAD,
    timeoutMinutes: 360,
    permissions: { contents: "write" } as const,
    state: "waiting" as const,
    readySequence: NOW + positions,
    createdAt: NOW,
    updatedAt: NOW,
    ...fields,
  };
  return only(await db.insert(workflowJobs).values(row).returning());
}

/** An attempt at a job that has ended, with its log. */
export async function makeTask(
  job: WorkflowJob,
  rows: readonly string[],
  fields: Partial<WorkflowTask> = {},
): Promise<WorkflowTask> {
  const bytes = formatLogRows(rows.map((text) => ({ timeMs: NOW, nanos: 0, text })));
  const step = { name: "Test", state: "success" as const, startedAt: NOW, stoppedAt: NOW };
  const task = only(
    await db
      .insert(workflowTasks)
      .values({
        jobId: job.id,
        runId: job.runId,
        repoId: job.repoId,
        attempt: 1,
        runnerId: 0,
        runnerName: "runner",
        state: "success",
        tokenHash: crypto.randomUUID(),
        steps: [{ ...step, logIndex: 0, logLength: rows.length }],
        logRows: rows.length,
        logBytes: bytes.length,
        isLogClosed: true,
        startedAt: NOW,
        stoppedAt: NOW,
        updatedAt: NOW,
        ...fields,
      })
      .returning(),
  );
  const piece = { taskId: task.id, firstRow: 0, rowCount: rows.length };
  await actionsCtx().git.logFiles.put(piece, bytes);
  await db.insert(workflowLogPieces).values({ ...piece, bytes: bytes.length });
  await db
    .update(workflowJobs)
    .set({ taskId: task.id, attempt: task.attempt })
    .where(eq(workflowJobs.id, job.id));
  return task;
}

export const findJob = async (id: number): Promise<WorkflowJob> =>
  only(await db.select().from(workflowJobs).where(eq(workflowJobs.id, id)));

export const findTask = async (id: number): Promise<WorkflowTask> =>
  only(await db.select().from(workflowTasks).where(eq(workflowTasks.id, id)));

/** The service with a key: opening it takes longer than most calls. */
let app: ReturnType<typeof createApp> | undefined;

/** Sends a request to the service with a key. */
export async function visitRunnerDoor(request: Request): Promise<Response> {
  app ??= createApp(parseConfig({ ...TEST_SETTINGS, SEALING_KEYS }));
  const execution = createExecutionContext();
  const response = await app.fetch(request, env, execution);
  await waitOnExecutionContext(execution);
  return response;
}

const BASE_URL = "http://forge.test/api/actions";

function openTransport(runner?: TestRunner, form: "binary" | "json" = "binary"): Transport {
  return createTransport({
    baseUrl: BASE_URL,
    httpClient: createFetchClient((input, init) => visitRunnerDoor(new Request(input, init))),
    useBinaryFormat: form === "binary",
    interceptors: [
      (next) => (request) => {
        if (runner) {
          request.header.set("X-Runner-Uuid", runner.uuid);
          request.header.set("X-Runner-Token", runner.token);
        }
        return next(request);
      },
    ],
    acceptCompression: [gzip],
    sendCompression: form === "json" ? gzip : null,
    compressMinBytes: 0,
    readMaxBytes: 1e8,
    writeMaxBytes: 1e8,
  });
}

/** A client of the services of runners, as one that registered where a runner is given. */
export const runnerClient = (
  runner?: TestRunner,
  form?: "binary" | "json",
): Client<typeof RunnerService> => createClient(RunnerService, openTransport(runner, form));

export const pingClient = (form?: "binary" | "json"): Client<typeof PingService> =>
  createClient(PingService, openTransport(undefined, form));
