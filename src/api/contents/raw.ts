import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";

import type { Ctx } from "../../context.ts";
import { tellContentType } from "../../domain/contents/content-type.ts";
import { findFile, type FoundFile } from "../../domain/contents/find-file.ts";
import { streamBlob } from "../../domain/contents/stream-blob.ts";
import { openCode, type Code } from "../../domain/git/open-code.ts";
import { isSymlinkMode } from "../../git/object/tree.ts";
import { notFound } from "../../lib/failure.ts";
import { formatFilename, hasTag } from "../../lib/header-value.ts";
import { log } from "../../lib/log.ts";
import { streamOf } from "../../lib/stream-of.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { refusals } from "../answers.ts";
import { endpoints, type ApiEnv } from "../endpoints.ts";
import type { GuardVariables } from "../guards/guard.ts";
import { inRepo } from "../guards/repository.ts";
import { FilePath, RefQuery } from "./paths.ts";

export const raw = endpoints();

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
  (c) => answerFile(c, c.req.valid("param").filepath, c.req.valid("query").ref),
);

raw.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/media/{filepath*}",
    operationId: "repoGetRawFileOrLFS",
    tags: ["repository"],
    summary: "Get the bytes of a file, which may be a pointer of LFS",
    middleware: [inRepo("read:repository")] as const,
    request: { params: FilePath, query: RefQuery },
    responses: bytes,
  }),
  (c) => answerFile(c, c.req.valid("param").filepath, c.req.valid("query").ref),
);

/** The context of a request that a repository's guard let in. */
type FileContext = Context<ApiEnv & { Variables: GuardVariables & { entry: RepositoryEntry } }>;

async function answerFile(c: FileContext, path: string, ref: string): Promise<Response> {
  const { ctx, entry } = c.var;
  const code = await openCode(ctx, entry);
  const file = await findFile(code, entry, path, ref);
  if (!file) throw notFound();
  const headers = headersOf(code, file);
  if (hasTag(c.req.header("if-none-match"), file.entry.oid)) {
    return new Response(null, { status: 304, headers });
  }
  const sizeBytes = code.repository.catalog.sizeBytes(file.place);
  const pieces = streamBlob(ctx, entry.repo, code.repository, file.place);
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
): Record<string, string> {
  // The file is at least as old as the commit that it is read from.
  const seconds = Math.min(graph.times[revision.node] as number, SECONDS_MAX);
  return {
    ETag: `"${entry.oid}"`,
    "Last-Modified": new Date(seconds * 1000).toUTCString(),
    "Content-Disposition": `inline; ${formatFilename(name)}`,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "X-Gitea-Object-Type": isSymlinkMode(entry.mode) ? "symlink" : "file",
    "Access-Control-Expose-Headers": "Content-Disposition, ETag, X-Gitea-Object-Type",
  };
}
