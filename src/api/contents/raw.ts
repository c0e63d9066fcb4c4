import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";

import type { Ctx } from "../../context.ts";
import { detectContentType, mayRun } from "../../domain/code/contents/content-type.ts";
import { findContentRevision } from "../../domain/code/contents/find-entry.ts";
import { findFile, type FoundFile } from "../../domain/code/contents/find-file.ts";
import { type FileContent, openBlob, openMedia } from "../../domain/code/contents/open-content.ts";
import { isPinned } from "../../domain/code/git/find-revision.ts";
import { noSuchRef } from "../../domain/code/git/no-such-ref.ts";
import { readSnapshot, type RepositorySnapshot } from "../../domain/code/git/open-snapshot.ts";
import { isSymlinkMode } from "../../git/object/tree.ts";
import {
  type ContentVersion,
  evaluateConditions,
  versionHeaders,
} from "../../lib/conditional-request.ts";
import { notFound } from "../../lib/failure.ts";
import { formatFilename } from "../../lib/header-value.ts";
import { log } from "../../lib/log.ts";
import { streamOf } from "../../lib/stream-of.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { header, HEADERS, refusals } from "../answers.ts";
import { immutableHeaders } from "../conditional.ts";
import { endpoints, type ApiEnv } from "../endpoints.ts";
import type { GuardVariables } from "../guards/guard.ts";
import { inRepo } from "../guards/repository.ts";
import { FilePath, RefQuery } from "./paths.ts";

export const raw = endpoints();

/** The media type depends on the content of the file. */
const ANY_CONTENT = { "*/*": { schema: z.string().openapi({ format: "binary" }) } };
const FILE_HEADERS = {
  ...HEADERS.download,
  "Last-Modified": header("string", "The time of the commit that is read"),
  "Accept-Ranges": header("string", "`bytes`"),
  "X-Gitea-Object-Type": header("string", "`file` or `symlink`"),
};
const CONTENT_RANGE = header("string", "The range, and the size of the file in bytes");

const bytes = {
  200: {
    description: "The bytes of the file; for a symlink, its target path",
    content: ANY_CONTENT,
    headers: FILE_HEADERS,
  },
  206: {
    description: "The range requested by `Range`",
    content: ANY_CONTENT,
    headers: { ...FILE_HEADERS, "Content-Range": CONTENT_RANGE },
  },
  416: {
    description: "The requested range is outside the file",
    headers: { ...FILE_HEADERS, "Content-Range": CONTENT_RANGE },
  },
  ...refusals(401, 403, 404, 413, 422),
};

raw.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/raw/{filepath*}",
    operationId: "repoGetRawFile",
    tags: ["repository"],
    summary: "Get the raw content of a file",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
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
    summary: "Get the raw content of a file, resolving LFS pointers",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: FilePath, query: RefQuery },
    responses: bytes,
  }),
  (c) => answerFile(c, c.req.valid("param").filepath, c.req.valid("query").ref, openMedia),
);

/** The context of a request that passed a repository guard. */
type FileContext = Context<ApiEnv & { Variables: GuardVariables & { repo: RepositoryContext } }>;

async function answerFile(
  c: FileContext,
  path: string,
  ref: string,
  openContent: typeof openBlob,
): Promise<Response> {
  const { ctx, repo } = c.var;
  const { snapshot, file, content } = await readSnapshot(ctx, repo, async (opened) => {
    const found = await findFile(opened, repo, path, ref);
    if (!found) {
      const isCommit = (await findContentRevision(opened, repo, ref)) !== undefined;
      throw isCommit ? notFound("no such file", "no-such-path") : noSuchRef(opened);
    }
    const opening = openContent(ctx, repo.row, opened, found);
    return { snapshot: opened, file: found, content: await opening };
  });
  const { sizeBytes } = content;
  const version = versionOf(snapshot, file, content);
  const isImmutable = content.isFinal && isPinned(file.revision, ref);
  const headers = {
    ...headersOf(file, version),
    ...(isImmutable && immutableHeaders(c.var, repo)),
  };
  const outcome = evaluateConditions(c.req.raw, version, sizeBytes);
  if (outcome.status === 416) {
    const unsatisfied = { ...headers, "Content-Range": `bytes */${sizeBytes}` };
    return new Response(null, { status: 416, headers: unsatisfied });
  }
  if (outcome.status !== 200 && outcome.status !== 206) {
    return new Response(null, { status: outcome.status, headers });
  }
  const pieces = content.stream();
  const { value: first = new Uint8Array(0) } = await pieces.next();
  const isPart = outcome.status === 206;
  const { start, end } = isPart ? outcome.range : { start: 0, end: sizeBytes };
  const answer = {
    status: outcome.status,
    headers: {
      ...headers,
      "Content-Type": detectContentType(file.name, first),
      "Content-Length": String(end - start),
      ...(isPart && { "Content-Range": `bytes ${start}-${end - 1}/${sizeBytes}` }),
    },
  };
  const isHead = c.req.method === "HEAD";
  if (isHead || end <= first.length) {
    await pieces.return(undefined);
    const body = first.subarray(start, end) as Uint8Array<ArrayBuffer>;
    return new Response(isHead ? null : body, answer);
  }
  const part = cut(first, pieces, start, end);
  const sent = streamOf(part, (sentBytes) => logSent(c, ctx, sentBytes));
  return new Response(sent.pipeThrough(new FixedLengthStream(end - start)), answer);
}

/** The bytes from `start` to `end`, exclusive, of the stream that `first` and `rest` form. */
async function* cut(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  try {
    let at = 0;
    for (let piece = first; ;) {
      const from = at;
      // Before the yield: the consumer may take over the buffer, which empties `piece`.
      at += piece.length;
      yield piece.subarray(Math.max(0, start - from), Math.max(0, end - from));
      const next = at < end ? await rest.next() : undefined;
      if (!next || next.done) return;
      piece = next.value;
    }
  } finally {
    await rest.return(undefined);
  }
}

function logSent(c: FileContext, ctx: Ctx, sentBytes: number): void {
  log("raw:sent", { id: c.var.requestId, ...ctx.git.usage.counts(), sentBytes });
}

/** The end of the year 9999, in seconds; commit times are arbitrary client input. */
const SECONDS_MAX = 253_402_300_799;

function versionOf(
  { repository: { graph } }: RepositorySnapshot,
  { revision }: FoundFile,
  { oid }: FileContent,
): ContentVersion {
  // The file is at least as old as the commit that is read.
  const seconds = Math.min(graph.times[revision.node] as number, SECONDS_MAX);
  return { tag: oid, modifiedAt: seconds * 1000 };
}

/**
 * SECURITY: files are untrusted content in the service's own origin. The headers sandbox them,
 * block scripts and forbid content sniffing.
 */
function headersOf({ entry, name }: FoundFile, version: ContentVersion): Record<string, string> {
  return {
    ...versionHeaders(version),
    // By the name, since a 304 is answered without the content, and its headers replace those of
    // the cached response.
    "Content-Disposition": `${mayRun(name) ? "attachment" : "inline"}; ${formatFilename(name)}`,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Accept-Ranges": "bytes",
    "X-Content-Type-Options": "nosniff",
    "X-Gitea-Object-Type": isSymlinkMode(entry.mode) ? "symlink" : "file",
    "Access-Control-Expose-Headers":
      "Content-Disposition, Content-Range, ETag, X-Gitea-Object-Type",
  };
}
