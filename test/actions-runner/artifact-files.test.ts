import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { workflowArtifactFiles, workflowArtifacts } from "../../src/db/schema/index.ts";
import { sourceOfBytes } from "../../src/lib/archive-source.ts";
import { openZip } from "../../src/lib/zip.ts";
import {
  type ArtifactJob,
  callService,
  type DoorAnswer,
  endTask,
  makeArtifactJob,
  send,
  upload,
} from "../support/artifacts.ts";
import { db } from "../support/db.ts";
import { visitRunnerDoor } from "../support/actions.ts";

const pathOf = ({ task }: ArtifactJob): string =>
  `/api/actions_pipeline/_apis/pipelines/workflows/${task.runId}/artifacts`;

const bearer = ({ token }: ArtifactJob) => ({ Authorization: `Bearer ${token}` });

async function begin(job: ArtifactJob, name: string): Promise<string> {
  const body = JSON.stringify({ Type: "actions_storage", Name: name });
  const answer = await send("POST", `${pathOf(job)}?api-version=6.0-preview`, {
    headers: { ...bearer(job), "Content-Type": "application/json" },
    body,
  });
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.fileContainerResourceUrl;
}

interface SentPart {
  readonly start?: number;
  readonly total?: number;
  readonly headers?: Record<string, string>;
}

const put = (
  job: ArtifactJob,
  url: string,
  itemPath: string,
  content: string | Uint8Array,
  { start = 0, total = content.length, headers = {} }: SentPart = {},
): Promise<DoorAnswer> =>
  send("PUT", `${url}?itemPath=${encodeURIComponent(itemPath)}`, {
    headers: {
      ...bearer(job),
      "Content-Range": `bytes ${start}-${start + content.length - 1}/${total}`,
      ...headers,
    },
    body: content,
  });

const confirm = (job: ArtifactJob, name: string): Promise<DoorAnswer> =>
  send("PATCH", `${pathOf(job)}?artifactName=${encodeURIComponent(name)}`, {
    headers: bearer(job),
    body: JSON.stringify({ Size: 1 }),
  });

/** The files of an artifact with their texts, as a job reads them. */
async function readFiles(job: ArtifactJob, name: string): Promise<Record<string, string>> {
  const { body: listed } = await send("GET", pathOf(job), { headers: bearer(job) });
  const found = listed.value.find((each: { name: string }) => each.name === name);
  const url = `${found.fileContainerResourceUrl}?itemPath=${name}`;
  const { body: items } = await send("GET", url, { headers: bearer(job) });
  const texts: Record<string, string> = {};
  for (const { path, contentLocation } of items.value) {
    texts[path] = (await send("GET", contentLocation, { headers: bearer(job) })).body;
  }
  return texts;
}

const gzip = async (text: string): Promise<Uint8Array> =>
  new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).bytes();

describe("an artifact of files", () => {
  let job: ArtifactJob;
  beforeAll(async () => {
    job = await makeArtifactJob();
  });

  it("takes files in parts, in any order and repeated, by several jobs", async () => {
    const url = await begin(job, "report");
    expect((await put(job, url, "report/a.txt", "whole")).status).toBe(200);
    await put(job, url, String.raw`report\sub\b.txt`, "world", { start: 6, total: 11 });
    await put(job, url, "report/sub/b.txt", "Hello ", { start: 0, total: 11 });
    await put(job, url, "report/sub/b.txt", "Hello ", { start: 0, total: 11 });
    await put(job, url, "report/cut.txt", "only a part", { start: 0, total: 99 });
    await put(job, url, "report/empty.txt", "");
    expect((await confirm(job, "report")).status).toBe(200);
    const other = await makeArtifactJob(job);
    await put(other, await begin(other, "report"), "report/c.txt", "added");
    await confirm(other, "report");
    expect(await readFiles(other, "report")).toEqual({
      "report/a.txt": "whole",
      "report/c.txt": "added",
      "report/empty.txt": "",
      "report/sub/b.txt": "Hello world",
    });
    const [artifact] = await db
      .select()
      .from(workflowArtifacts)
      .where(eq(workflowArtifacts.runId, job.task.runId));
    expect(artifact).toMatchObject({ state: "ready", sizeBytes: 21 });
  });

  it("keeps compressed files so, and sends them unpacked to whom asks for that", async () => {
    const text = "again ".repeat(1000);
    const packed = await gzip(text);
    const url = await begin(job, "packed");
    await put(job, url, "packed/a.txt", packed, {
      headers: { "Content-Encoding": "gzip", "x-tfs-filelength": String(text.length) },
    });
    await confirm(job, "packed");
    expect(await readFiles(job, "packed")).toEqual({ "packed/a.txt": text });
    const [artifact] = await db
      .select()
      .from(workflowArtifacts)
      .where(eq(workflowArtifacts.name, "packed"));
    expect(artifact).toMatchObject({ sizeBytes: text.length });
    // A job of the fourth version gets a zip of the files.
    const { body } = await callService(job, "GetSignedArtifactURL", { name: "packed" });
    const zip = await visitRunnerDoor(new Request(body.signedUrl));
    const [file] = await openZip(sourceOfBytes(await zip.bytes()));
    expect(file?.path).toBe("a.txt");
    expect(new TextDecoder().decode(await file?.read(10_000))).toBe(text);
  });

  it("has the last content of a file that is sent again", async () => {
    const url = await begin(job, "changed");
    await put(job, url, "changed/a", "01234", { start: 0, total: 10 });
    await put(job, url, "changed/a", "56789", { start: 5, total: 10 });
    await put(job, url, "changed/a", "new");
    await confirm(job, "changed");
    expect(await readFiles(job, "changed")).toEqual({ "changed/a": "new" });
  });

  it.each([
    "",
    "report",
    "report/",
    "other/a",
    "report/../a",
    "report/./a",
    "report//a",
    "report/a\u0000b",
    "report/a:b",
    String.raw`report\..\..\a`,
    "/report/a",
    `report/${"x".repeat(1024)}`,
  ])("refuses the path %j", async (path) => {
    const own = await makeArtifactJob();
    const url = await begin(own, "report");
    expect((await put(own, url, path, "content")).status).toBe(400);
    const [artifact] = await db
      .select()
      .from(workflowArtifacts)
      .where(eq(workflowArtifacts.runId, own.task.runId));
    const prefix = `actions/artifacts/${artifact?.id}/`;
    expect((await env.PACKS.list({ prefix })).objects).toEqual([]);
    expect(
      await db
        .select()
        .from(workflowArtifactFiles)
        .where(eq(workflowArtifactFiles.artifactId, artifact?.id ?? 0)),
    ).toEqual([]);
  });

  it("refuses names, ranges and hashes that are none, and what is not of its run", async () => {
    const own = await makeArtifactJob();
    const named = (name: string) =>
      send("POST", pathOf(own), { headers: bearer(own), body: JSON.stringify({ Name: name }) });
    expect((await named("../x")).status).toBe(400);
    expect((await send("POST", pathOf(own), { headers: bearer(own), body: "[" })).status).toBe(400);
    const url = await begin(own, "own");
    const range = (text: string) =>
      put(own, url, "own/a", "content", { headers: { "Content-Range": text } });
    for (const text of ["", "bytes 0-7/7", "bytes 1-7/7", "bytes 0-6/*", "0-6/7"]) {
      expect((await range(text)).status).toBe(400);
    }
    const headers = { "x-actions-results-md5": btoa("0123456789abcdef") };
    expect((await put(own, url, "own/a", "content", { headers })).status).toBe(400);
    const other = await makeArtifactJob();
    expect((await put(other, url, "own/a", "content")).status).toBe(400);
    const moved = url.replace(`/${own.task.runId}/`, `/${other.task.runId}/`);
    expect((await put(other, moved, "own/a", "content")).status).toBe(404);
    expect((await confirm(other, "own")).status).toBe(404);
    expect((await send("GET", pathOf(own))).status).toBe(401);
    await upload(own, "archive", "content");
    expect((await named("archive")).status).toBe(409);
    expect((await callService(own, "CreateArtifact", { name: "own" })).status).toBe(409);
    await endTask(own);
    expect((await put(own, url, "own/a", "content")).status).toBe(401);
  });
});
