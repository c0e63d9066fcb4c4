import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  discardedWork,
  workflowArtifactParts,
  workflowArtifacts,
  workflowRuns,
  workflowTasks,
} from "../../src/db/schema/index.ts";
import { ARTIFACTS_MAX } from "../../src/domain/actions/artifacts/artifact-limits.ts";
import { cleanUpActions } from "../../src/domain/actions/clean-up-actions.ts";
import { actionsCtx } from "../support/actions.ts";
import {
  type ArtifactJob,
  beginUpload,
  callService,
  endTask,
  makeArtifactJob,
  putBlock,
  putBlockList,
  send,
  upload,
} from "../support/artifacts.ts";
import { db } from "../support/db.ts";

const artifactsOf = ({ task }: ArtifactJob) =>
  db.select().from(workflowArtifacts).where(eq(workflowArtifacts.runId, task.runId));

const objectsOf = async (id: number): Promise<number> =>
  (await env.PACKS.list({ prefix: `actions/artifacts/${id}/` })).objects.length;

async function download(job: ArtifactJob, name: string, headers: Record<string, string> = {}) {
  const { body } = await callService(job, "GetSignedArtifactURL", { name });
  return send("GET", body.signedUrl, { headers });
}

describe("an upload in blocks", () => {
  let job: ArtifactJob;
  beforeAll(async () => {
    job = await makeArtifactJob();
  });

  it("is put together in the order of the list, and read by another job of the run", async () => {
    const url = await beginUpload(job, "result");
    const answer = await putBlock(url, "block-2", "world");
    expect(answer.status).toBe(201);
    expect(answer.headers.get("x-ms-request-id")).toBeTruthy();
    await putBlock(url, "block-1", "Hello ");
    expect((await putBlockList(url, ["block-1", "block-2"])).status).toBe(201);
    // SHA-256 of `Hello world`.
    const hash = "sha256:64ec88ca00b268e5ba1a35678a1b5316d212f4f366b2477232534a8aeca37f3c";
    const finished = await callService(job, "FinalizeArtifact", {
      name: "result",
      size: "11",
      hash,
    });
    expect(finished.body).toEqual({ ok: true, artifactId: expect.stringMatching(/^\d+$/) });

    const other = await makeArtifactJob(job);
    const listed = await callService(other, "ListArtifacts", { name_filter: "result" });
    expect(listed.body).toEqual({
      artifacts: [
        {
          workflowRunBackendId: String(other.task.runId),
          workflowJobRunBackendId: String(other.task.jobId),
          databaseId: finished.body.artifactId,
          name: "result",
          size: "11",
          createdAt: expect.any(String),
          digest: hash,
        },
      ],
    });
    const whole = await download(other, "result");
    expect(whole).toMatchObject({ status: 200, body: "Hello world" });
    expect(whole.headers.get("content-disposition")).toContain('filename="result.zip"');
    expect(whole.headers.get("content-type")).toBe("application/zip");
    // Across the border of the blocks.
    const part = await download(other, "result", { Range: "bytes=4-7" });
    expect(part).toMatchObject({ status: 206, body: "o wo" });
    expect(part.headers.get("content-range")).toBe("bytes 4-7/11");
  });

  it("takes names in both forms, and an unfinished name again", async () => {
    const { task, token } = job;
    const message = {
      workflowRunBackendId: String(task.runId),
      workflowJobRunBackendId: String(task.jobId),
      name: "twice",
      mimeType: "text/plain",
    };
    const path = "/twirp/github.actions.results.api.v1.ArtifactService/CreateArtifact";
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const first = await send("POST", path, { headers, body: JSON.stringify(message) });
    await putBlock(first.body.signedUploadUrl, "block-1", "kept");
    const second = await send("POST", path, { headers, body: JSON.stringify(message) });
    expect(second.status).toBe(200);
    expect((await putBlockList(second.body.signedUploadUrl, ["block-1"])).status).toBe(201);
    expect((await callService(job, "FinalizeArtifact", { name: "twice", size: "4" })).status).toBe(
      200,
    );
    const sent = await download(job, "twice");
    expect(sent.body).toBe("kept");
    expect(sent.headers.get("content-type")).toBe("text/plain");
    expect(sent.headers.get("content-disposition")).toContain('filename="twice"');
  });

  it("takes a whole blob, and an empty one", async () => {
    const url = await beginUpload(job, "whole");
    const headers = { "x-ms-blob-type": "BlockBlob" };
    expect((await send("PUT", url, { headers, body: "at once" })).status).toBe(201);
    await callService(job, "FinalizeArtifact", { name: "whole", size: "7" });
    expect((await download(job, "whole")).body).toBe("at once");

    const empty = await beginUpload(job, "empty");
    expect((await putBlockList(empty, [])).status).toBe(201);
    expect((await callService(job, "FinalizeArtifact", { name: "empty", size: "0" })).status).toBe(
      200,
    );
    expect(await download(job, "empty")).toMatchObject({ status: 200, body: "" });
  });

  it("replaces a block that is sent again, and forgets those that no list names", async () => {
    const url = await beginUpload(job, "again");
    await putBlock(url, "block-1", "first");
    await putBlock(url, "block-1", "second");
    await putBlock(url, "block-2", "unused");
    await putBlockList(url, ["block-2"]);
    await putBlockList(url, ["block-1"]);
    const { body } = await callService(job, "FinalizeArtifact", { name: "again", size: "6" });
    expect((await download(job, "again")).body).toBe("second");
    expect(await objectsOf(Number(body.artifactId))).toBe(1);
  });

  it("is finished once: the same call has no second effect, another is refused", async () => {
    await upload(job, "once", "content");
    const [before] = await artifactsOf(job);
    expect((await callService(job, "FinalizeArtifact", { name: "once", size: "7" })).status).toBe(
      200,
    );
    expect((await callService(job, "FinalizeArtifact", { name: "once", size: "8" })).status).toBe(
      409,
    );
    expect((await callService(job, "CreateArtifact", { name: "once" })).body).toMatchObject({
      code: "already_exists",
    });
    expect((await artifactsOf(job))[0]).toEqual(before);
  });

  it("refuses blocks and lists after the end", async () => {
    const url = await beginUpload(job, "closed");
    await putBlock(url, "block-1", "content");
    await putBlockList(url, ["block-1"]);
    const { body } = await callService(job, "FinalizeArtifact", { name: "closed", size: "7" });
    expect((await putBlock(url, "block-1", "changed")).status).toBe(409);
    expect((await putBlockList(url, [])).status).toBe(409);
    expect((await download(job, "closed")).body).toBe("content");
    expect(await objectsOf(Number(body.artifactId))).toBe(1);
  });

  it("is deleted by the job, and its name is free again", async () => {
    const id = await upload(job, "gone", "content");
    expect((await callService(job, "DeleteArtifact", { name: "gone" })).body).toEqual({
      ok: true,
      artifactId: String(id),
    });
    expect((await callService(job, "ListArtifacts", { name_filter: "gone" })).body).toEqual({});
    expect((await callService(job, "DeleteArtifact", { name: "gone" })).body).toMatchObject({
      code: "not_found",
    });
    await cleanUpActions(actionsCtx(Date.now()));
    expect(await objectsOf(id)).toBe(0);
    await upload(job, "gone", "new");
    expect((await download(job, "gone")).body).toBe("new");
  });

  it("has a name of its own in each attempt of the run, of which the newest is found", async () => {
    const first = await upload(job, "report", "one");
    await db.update(workflowRuns).set({ attempt: 2 }).where(eq(workflowRuns.id, job.task.runId));
    const again = await makeArtifactJob(job);
    expect((await download(again, "report")).body).toBe("one");
    const second = await upload(again, "report", "two");
    expect(second).not.toBe(first);
    expect((await download(again, "report")).body).toBe("two");
  });
});

describe("what is refused", () => {
  let job: ArtifactJob;
  beforeAll(async () => {
    job = await makeArtifactJob();
  });

  it.each([
    "",
    ".",
    "..",
    "../x",
    "a/b",
    String.raw`a\b`,
    "a:b",
    "a\nb",
    "a\u0000b",
    "a\u007Fb",
    'a"b',
    "a*",
    "x".repeat(256),
    "\uD800",
  ])("the name %j", async (name) => {
    expect(await callService(job, "CreateArtifact", { name })).toMatchObject({
      status: 400,
      body: { code: "invalid_argument" },
    });
    expect(await artifactsOf(job)).toEqual([]);
  });

  it("a list with an unknown block, one twice, or of another form", async () => {
    const own = await makeArtifactJob();
    const url = await beginUpload(own, "listed");
    await putBlock(url, "block-1", "content");
    expect((await putBlockList(url, ["block-1", "block-9"])).status).toBe(400);
    expect((await putBlockList(url, ["block-1", "block-1"])).status).toBe(400);
    for (const body of ["", "<BlockList>", "<Blocks/>", "<!DOCTYPE x><BlockList/>", "{}"]) {
      expect((await send("PUT", `${url}&comp=blocklist`, { body })).status).toBe(400);
    }
    const many = Array.from({ length: 10_001 }, (_, at) => `block-${at}`);
    expect((await putBlockList(url, many)).status).toBe(413);
    expect(await callService(own, "FinalizeArtifact", { name: "listed", size: "7" })).toMatchObject(
      {
        status: 400,
      },
    );
    expect(await db.select().from(workflowArtifactParts)).toContainEqual(
      expect.objectContaining({ name: btoa("block-1"), position: null }),
    );
  });

  it("a block with another hash or length than stated", async () => {
    const own = await makeArtifactJob();
    const url = await beginUpload(own, "hashed");
    const md5 = btoa("0123456789abcdef");
    expect((await putBlock(url, "block-1", "content", { "Content-MD5": md5 })).status).toBe(400);
    expect((await putBlock(url, "block-1", "content", { "Content-MD5": "short" })).status).toBe(
      400,
    );
    expect((await putBlock(url, "block-1", "content", { "Content-Length": "6" })).status).toBe(400);
    expect((await putBlock(url, "block-1", "content", { "Content-Length": "x" })).status).toBe(400);
    expect((await send("PUT", `${url}&comp=block&blockid=..%2F`, { body: "x" })).status).toBe(400);
    expect((await send("PUT", `${url}&comp=page`, { body: "x" })).status).toBe(400);
    expect((await send("PUT", url, { body: "x" })).status).toBe(400);
    const [artifact] = await artifactsOf(own);
    expect(artifact).toMatchObject({ receivedCount: 0 });
    expect(await objectsOf(artifact?.id ?? 0)).toBe(0);
  });

  it("an end with another size or hash, or before the upload", async () => {
    const own = await makeArtifactJob();
    const finish = (message: object) =>
      callService(own, "FinalizeArtifact", { name: "sized", size: "7", ...message });
    expect((await finish({})).status).toBe(404);
    const url = await beginUpload(own, "sized");
    expect((await finish({})).status).toBe(400);
    await putBlock(url, "block-1", "content");
    await putBlockList(url, ["block-1"]);
    expect((await finish({ size: "8" })).status).toBe(400);
    expect((await finish({ hash: `sha256:${"0".repeat(64)}` })).status).toBe(400);
    expect((await finish({ hash: "md5:0" })).status).toBe(400);
    expect((await callService(own, "ListArtifacts")).body).toEqual({});
    expect((await callService(own, "GetSignedArtifactURL", { name: "sized" })).status).toBe(404);
    expect((await finish({})).status).toBe(200);
  });

  it("tokens that are altered, of another run, or of a task that has ended", async () => {
    const own = await makeArtifactJob();
    const url = await beginUpload(own, "ended");
    await putBlock(url, "block-1", "content");
    const altered = { ...own, token: `${own.token.slice(0, -2)}xx` };
    expect((await callService(altered, "ListArtifacts")).status).toBe(401);
    expect((await callService({ ...own, token: "" }, "ListArtifacts")).status).toBe(401);
    expect((await callService({ ...own, task: job.task }, "ListArtifacts")).body).toMatchObject({
      code: "invalid_argument",
    });
    await endTask(own);
    expect((await callService(own, "ListArtifacts")).body).toMatchObject({
      code: "unauthenticated",
    });
    expect((await putBlock(url, "block-2", "content")).status).toBe(403);
    expect((await putBlockList(url, ["block-1"])).status).toBe(403);
    expect((await artifactsOf(own))[0]).toMatchObject({ state: "pending", receivedCount: 1 });
  });

  it("the artifacts of another run", async () => {
    await upload(job, "own", "content");
    const other = await makeArtifactJob();
    expect((await callService(other, "GetSignedArtifactURL", { name: "own" })).status).toBe(404);
    expect((await callService(other, "DeleteArtifact", { name: "own" })).status).toBe(404);
    expect((await callService(other, "ListArtifacts")).body).toEqual({});
    expect((await callService(other, "FinalizeArtifact", { name: "own", size: "7" })).status).toBe(
      404,
    );
    const sibling = await makeArtifactJob(job);
    expect((await callService(sibling, "CreateArtifact", { name: "own" })).status).toBe(409);
    expect(
      (await callService(sibling, "FinalizeArtifact", { name: "own", size: "7" })).status,
    ).toBe(403);
  });

  it("addresses that are altered, too old, or made for something else", async () => {
    const own = await makeArtifactJob();
    const url = await beginUpload(own, "signed");
    const second = new URL(await beginUpload(own, "second"));
    const changed = (name: string, value: string): string => {
      const address = new URL(url);
      address.searchParams.set(name, value);
      return address.href;
    };
    for (const address of [
      changed("artifactID", second.searchParams.get("artifactID") ?? ""),
      changed("taskID", String(job.task.id)),
      changed("expires", String(Date.now() + 1e9)),
      changed("expires", "1"),
      changed("sig", second.searchParams.get("sig") ?? ""),
      changed("sig", ""),
    ]) {
      const answer = await putBlock(address, "block-1", "content");
      expect(answer.status).toBe(403);
      expect(answer.headers.get("x-ms-error-code")).toBe("AuthenticationFailed");
    }
    expect((await send("GET", url.replace("UploadArtifact", "DownloadArtifact"))).status).toBe(403);
    expect((await artifactsOf(own)).map(({ receivedCount }) => receivedCount)).toEqual([0, 0]);
  });

  it("more artifacts than an attempt may have", async () => {
    const own = await makeArtifactJob();
    const { runId, repoId, id: taskId } = own.task;
    const row = { runId, repoId, taskId, runAttempt: 1, isArchive: true, mimeType: "x/y" };
    const times = { createdAt: 1, updatedAt: 1, expiresAt: 1 };
    for (let at = 0; at < ARTIFACTS_MAX; at += 5) {
      const rows = Array.from({ length: 5 }, (_, n) => ({ ...row, ...times, name: `a${at + n}` }));
      await db.insert(workflowArtifacts).values(rows);
    }
    expect((await callService(own, "CreateArtifact", { name: "more" })).body).toMatchObject({
      code: "resource_exhausted",
    });
    expect((await callService(own, "CreateArtifact", { name: "a0" })).status).toBe(200);
  });
});

describe("the end of artifacts", () => {
  const DAY_MS = 86_400_000;

  it("comes after the days that the job asks for, at most 90", async () => {
    const job = await makeArtifactJob();
    const day = new Date(Date.now() + DAY_MS).toISOString();
    await callService(job, "CreateArtifact", { name: "day", expires_at: day });
    const year = new Date(Date.now() + 365 * DAY_MS).toISOString();
    await callService(job, "CreateArtifact", { name: "year", expires_at: year });
    await callService(job, "CreateArtifact", { name: "usual" });
    const days = (await artifactsOf(job)).map(({ expiresAt }) =>
      Math.round((expiresAt - Date.now()) / DAY_MS),
    );
    expect(days).toEqual([1, 90, 90]);
    const past = { name: "past", expires_at: "2020-01-01T00:00:00Z" };
    expect((await callService(job, "CreateArtifact", past)).status).toBe(400);
  });

  it("removes files of old artifacts, and uploads whose task has ended", async () => {
    const job = await makeArtifactJob();
    const old = await upload(job, "old", "content");
    const url = await beginUpload(job, "unfinished");
    await putBlock(url, "block-1", "content");
    const unfinished = (await artifactsOf(job)).at(-1)?.id ?? 0;
    await cleanUpActions(actionsCtx(Date.now() + 2 * 3_600_000));
    expect(await objectsOf(unfinished)).toBe(1);
    await endTask(job);
    await cleanUpActions(actionsCtx(Date.now() + 2 * 3_600_000));
    await cleanUpActions(actionsCtx(Date.now() + 2 * 3_600_000));
    expect(await objectsOf(unfinished)).toBe(0);
    expect(await objectsOf(old)).toBe(1);
    await cleanUpActions(actionsCtx(Date.now() + 91 * DAY_MS));
    expect(await objectsOf(old)).toBe(0);
    expect(await artifactsOf(job)).toMatchObject([{ name: "old", state: "expired" }]);
    expect(await db.select().from(discardedWork)).toEqual([]);
  });

  it("replaces what a task left unfinished that has ended", async () => {
    const job = await makeArtifactJob();
    const url = await beginUpload(job, "left");
    const other = await makeArtifactJob(job);
    expect((await callService(other, "CreateArtifact", { name: "left" })).status).toBe(409);
    await endTask(job);
    await upload(other, "left", "content");
    expect((await putBlock(url, "block-1", "late")).status).toBe(403);
    expect((await download(other, "left")).body).toBe("content");
  });

  it("comes with the run", async () => {
    const job = await makeArtifactJob();
    const id = await upload(job, "kept", "content");
    await db.delete(workflowRuns).where(eq(workflowRuns.id, job.task.runId));
    expect(await db.select().from(workflowTasks).where(eq(workflowTasks.id, job.task.id))).toEqual(
      [],
    );
    await cleanUpActions(actionsCtx(Date.now()));
    expect(await objectsOf(id)).toBe(0);
  });
});
