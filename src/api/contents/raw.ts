import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";

import type { Ctx } from "../../context.ts";
import type { Repository } from "../../db/schema/index.ts";
import { tellContentType } from "../../domain/contents/content-type.ts";
import { findFile, type FoundFile } from "../../domain/contents/find-file.ts";
import { POINTER_BYTES_MAX, readLfsPointer } from "../../domain/contents/lfs-pointer.ts";
import { streamBlob } from "../../domain/contents/stream-blob.ts";
import { openCode, type Code } from "../../domain/git/open-code.ts";
import { findObject } from "../../domain/lfs/find-objects.ts";
import { isSymlinkMode } from "../../git/object/tree.ts";
import { formatFilename } from "../../lib/content-disposition.ts";
import { hasTag } from "../../lib/entity-tag.ts";
import { notFound } from "../../lib/failure.ts";
import { log } from "../../lib/log.ts";
import { streamOf } from "../../lib/stream-of.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { refusals } from "../answers.ts";
import { endpoints, type ApiEnv } from "../endpoints.ts";
import type { GuardVariables } from "../guards/guard.ts";
import { inRepo } from "../guards/repository.ts";
import { FilePath, RefQuery } from "./paths.ts";

export const raw = endpoints();

/** Pieces that a large file is read in, in bytes. */
const PIECE_BYTES = 256 * 1024;

const bytes = {
  200: {
    description: "The bytes of the file; of a symlink, where it leads",
    content: {
      "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) },
    },
  },
  304: { description: "What the caller has is the file still" },
  ...refusals(401, 403, 404),
};

raw.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/raw/{filepath*}",
    operationId: "repoGetRawFile",
    tags: ["repository"],
    summary: "Get the bytes of a file",
    middleware: [inRepo("read:repository")] as const,
    request: { params: FilePath, query: RefQuery },
    responses: bytes,
  }),
  (c) => answerFile(c, c.req.valid("param").filepath, c.req.valid("query").ref, openBlob),
);

raw.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/media/{filepath*}",
    operationId: "repoGetRawFileOrLFS",
    tags: ["repository"],
    summary: "Get the bytes of a file, or of the large file that it points at",
    middleware: [inRepo("read:repository")] as const,
    request: { params: FilePath, query: RefQuery },
    responses: bytes,
  }),
  (c) => answerFile(c, c.req.valid("param").filepath, c.req.valid("query").ref, openTarget),
);

/** The context of a request that a repository's guard let in. */
type FileContext = Context<ApiEnv & { Variables: GuardVariables & { entry: RepositoryEntry } }>;

async function answerFile(
  c: FileContext,
  path: string,
  ref: string,
  openContent: typeof openBlob,
): Promise<Response> {
  const { ctx, entry } = c.var;
  const code = await openCode(ctx, entry);
  const file = await findFile(code, entry, path, ref);
  if (!file) throw notFound();
  const { oid, sizeBytes, stream } = await openContent(ctx, entry.repo, code, file);
  const headers = headersOf(code, file, oid);
  if (hasTag(c.req.header("if-none-match"), oid)) {
    return new Response(null, { status: 304, headers });
  }
  const pieces = stream();
  const { value: first = new Uint8Array(0) } = await pieces.next();
  headers["Content-Type"] = tellContentType(file.name, first);
  headers["Content-Length"] = String(sizeBytes);
  const isHead = c.req.method === "HEAD";
  if (isHead || first.length === sizeBytes) {
    await pieces.return(undefined);
    return new Response(isHead ? null : (first as Uint8Array<ArrayBuffer>), { headers });
  }
  const sent = streamOf(continued(first, pieces), (sentBytes) => logSent(c, ctx, sentBytes));
  return new Response(sent.pipeThrough(new FixedLengthStream(sizeBytes)), { headers });
}

/** What is answered, of a file that was found. */
interface Content {
  /** What names the bytes and no others. */
  oid: string;
  sizeBytes: number;
  stream: () => AsyncGenerator<Uint8Array>;
}

/** A file as git has it. */
async function openBlob(
  ctx: Ctx,
  repo: Repository,
  { repository }: Code,
  { entry: { oid }, place }: FoundFile,
): Promise<Content> {
  const sizeBytes = repository.catalog.sizeBytes(place);
  return { oid, sizeBytes, stream: () => streamBlob(ctx, repo, repository, place) };
}

/** What a file points at, if it is a pointer to a large file that the repository has; else the file. */
async function openTarget(
  ctx: Ctx,
  repo: Repository,
  code: Code,
  file: FoundFile,
): Promise<Content> {
  const { catalog, objects } = code.repository;
  const mayPoint = !isSymlinkMode(file.entry.mode);
  const isSmall =
    catalog.sizeBytes(file.place) < POINTER_BYTES_MAX && !objects.findLarge(file.entry.oid);
  const pointer =
    ctx.config.isLfsOn && mayPoint && isSmall
      ? readLfsPointer(await objects.readPlace(file.place))
      : undefined;
  const object = pointer && (await findObject(ctx, repo, pointer.oid));
  if (!object || object.sizeBytes !== pointer.sizeBytes) return openBlob(ctx, repo, code, file);
  const { oid, sizeBytes, uploadId } = object;
  const large = { networkName: repo.networkName, oid, uploadId };
  return { oid, sizeBytes, stream: () => ctx.git.largeFiles.stream(large, PIECE_BYTES) };
}

async function* continued(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

function logSent(c: FileContext, ctx: Ctx, sentBytes: number): void {
  log("raw:sent", { id: c.var.requestId, ...ctx.git.usage.counts(), sentBytes });
}

/** The end of the year 9999, in seconds: a commit may claim any time. */
const SECONDS_MAX = 253_402_300_799;

/**
 * SECURITY: a file is somebody's, at the service's own address: it is shown in a sandbox, without
 * scripts, and taken for nothing but what its type says.
 */
function headersOf(
  { repository: { graph } }: Code,
  { entry, name, revision }: FoundFile,
  oid: string,
): Record<string, string> {
  // The file is at least as old as the commit that it is read from.
  const seconds = Math.min(graph.times[revision.node] as number, SECONDS_MAX);
  return {
    ETag: `"${oid}"`,
    "Last-Modified": new Date(seconds * 1000).toUTCString(),
    "Content-Disposition": `inline; ${formatFilename(name)}`,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "X-Gitea-Object-Type": isSymlinkMode(entry.mode) ? "symlink" : "file",
    "Access-Control-Expose-Headers": "Content-Disposition, ETag, X-Gitea-Object-Type",
  };
}
