import { z } from "zod";

import { createArtifact } from "../../domain/actions/artifacts/create-artifact.ts";
import {
  findArtifact,
  findArtifactFile,
  listArtifactFiles,
  listArtifacts,
} from "../../domain/actions/artifacts/find-artifact.ts";
import type { ArtifactTask } from "../../domain/actions/artifacts/find-artifact-task.ts";
import { unpackGzip, openStoredFile } from "../../domain/actions/artifacts/open-artifact.ts";
import { confirmFiles, receiveFilePart } from "../../domain/actions/artifacts/upload-files.ts";
import type { Ctx } from "../../context.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import { bytesOf } from "./blobs.ts";
import { type ArtifactsContext, ctxOf, taskOf } from "./env.ts";
import { readSmallJson } from "./read-small-body.ts";

// The service of the third version and those before, whose artifacts are files with paths.

const LISTED_MAX = 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

const Creation = z.object({
  Name: z.string(),
  RetentionDays: z.number().min(0).max(100_000).optional(),
});

interface Call {
  readonly ctx: Ctx;
  readonly task: ArtifactTask;
}

/**
 * Enters the run of the path.
 *
 * SECURITY: that of the token.
 */
async function enter(c: ArtifactsContext): Promise<Call> {
  const ctx = ctxOf(c);
  const task = await taskOf(c, ctx);
  if (c.req.param("run") !== String(task.runId)) {
    throw malformed("the run is not that of the token");
  }
  return { ctx, task };
}

/** The URL of the artifacts of a run, under which the job called it. */
const urlOf = ({ ctx, task }: Call): string =>
  `${ctx.rootUrl}/api/actions_pipeline/_apis/pipelines/workflows/${task.runId}/artifacts`;

const ofRun = ({ repoId, runId }: ArtifactTask) => ({ repoId, runId });

function readId(text = ""): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound();
  return Number(text);
}

/** Begins an artifact, or lets the job add files to one. */
export async function createContainer(c: ArtifactsContext): Promise<Response> {
  const call = await enter(c);
  const { ctx, task } = call;
  const { data } = Creation.safeParse(await readSmallJson(c.req.raw));
  if (!data) throw malformed("the body names no artifact");
  const { Name: name, RetentionDays: days } = data;
  const { id } = await createArtifact(ctx, task, {
    name,
    isArchive: false,
    mimeType: "application/zip",
    expiresAt: days ? ctx.now + days * DAY_MS : undefined,
  });
  return c.json({ name, fileContainerResourceUrl: `${urlOf(call)}/${id}/upload` });
}

/** Receives a part of a file. */
export async function receiveItem(c: ArtifactsContext): Promise<Response> {
  const { ctx, task } = await enter(c);
  const bytes = bytesOf(c, "x-actions-results-md5");
  // An empty file is sent as `bytes 0--1/0`.
  const range = /^bytes (\d{1,15})-(-?\d{1,15})\/(\d{1,15})$/.exec(
    c.req.header("content-range") ?? "",
  );
  const [, start = "0", end = "", total = ""] = range ?? [];
  const sizeBytes = Number(end) - Number(start) + 1;
  if (!range || sizeBytes !== bytes.sizeBytes) {
    throw malformed("the range of the part is missing, or is not its length");
  }
  const isGzip = c.req.header("content-encoding") === "gzip";
  const unpacked = c.req.header("x-tfs-filelength") ?? "";
  if (isGzip && !/^\d{1,15}$/.test(unpacked)) throw malformed("the size of the file is missing");
  await receiveFilePart(ctx, task, readId(c.req.param("artifact")), {
    ...bytes,
    itemPath: c.req.query("itemPath") ?? "",
    isGzip,
    start: Number(start),
    storedBytes: Number(total),
    unpackedBytes: Number(isGzip ? unpacked : total),
  });
  return c.json({ message: "success" });
}

/** Lists an artifact from here on. */
export async function confirmContainer(c: ArtifactsContext): Promise<Response> {
  const { ctx, task } = await enter(c);
  await confirmFiles(ctx, task, c.req.query("artifactName") ?? "");
  return c.json({ message: "success" });
}

/** Lists the artifacts of the run, the newest ones. */
export async function listContainers(c: ArtifactsContext): Promise<Response> {
  const call = await enter(c);
  const slice = { size: LISTED_MAX, offset: 0 };
  const { items } = await listArtifacts(call.ctx, ofRun(call.task), slice);
  const names = new Set<string>();
  const value = items.flatMap(({ artifact: { id, name, isArchive, state } }) => {
    if (isArchive || state !== "ready" || names.has(name)) return [];
    names.add(name);
    return [{ name, fileContainerResourceUrl: `${urlOf(call)}/${id}/download_url` }];
  });
  return c.json({ count: value.length, value });
}

/** Lists the files of an artifact. */
export async function answerContainer(c: ArtifactsContext): Promise<Response> {
  const call = await enter(c);
  const id = readId(c.req.param("artifact"));
  const { artifact } = await findArtifact(call.ctx, { ...ofRun(call.task), id });
  const files = await listArtifactFiles(call.ctx, artifact.id);
  return c.json({
    count: files.length,
    value: files.map((file) => ({
      path: `${artifact.name}/${file.path}`,
      itemType: "file",
      fileLength: file.sizeBytes,
      contentLocation: `${urlOf(call)}/${artifact.id}/download/${file.id}`,
    })),
  });
}

/** Sends a file, compressed if it is stored so and the client takes that. */
export async function sendItem(c: ArtifactsContext): Promise<Response> {
  const { ctx, task } = await enter(c);
  const of = { runId: task.runId, fileId: readId(c.req.param("file")) };
  const file = await findArtifactFile(ctx, of);
  if (String(file.artifactId) !== c.req.param("artifact")) throw notFound();
  const { storedBytes, isGzip } = file;
  const bytes = await openStoredFile(ctx, file, { start: 0, end: storedBytes });
  const headers = { "Content-Type": "application/octet-stream", "Cache-Control": "no-store" };
  const takesGzip = /\bgzip\b/i.test(c.req.header("accept-encoding") ?? "");
  if (isGzip && !takesGzip) return new Response(unpackGzip(bytes), { headers });
  return new Response(bytes, {
    headers: {
      ...headers,
      "Content-Length": String(storedBytes),
      ...(isGzip && { "Content-Encoding": "gzip" }),
    },
    // As it is stored, not compressed again.
    encodeBody: isGzip ? "manual" : "automatic",
  });
}
