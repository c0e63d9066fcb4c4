import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";

import {
  type ArchiveFormat,
  MEDIA_TYPES,
  parseArchiveName,
} from "../../domain/code/archives/archive-format.ts";
import { findArchive } from "../../domain/code/archives/find-archive.ts";
import { answerDownload } from "../../lib/download.ts";
import { log } from "../../lib/log.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { header, HEADERS, NOT_MODIFIED, refusals } from "../answers.ts";
import { endpoints, type ApiEnv } from "../endpoints.ts";
import type { GuardVariables } from "../guards/guard.ts";
import { inRepo } from "../guards/repository.ts";
import { RepoPath } from "./paths.ts";

export const archives = endpoints();

const headers = {
  ...HEADERS.download,
  ...HEADERS.dated,
  Link: header("string", "A URL that always serves this same file, with `rel=immutable`", false),
};

/** The responses of a route that answers with an archive in one of these formats. */
const fileOf = (...formats: ArchiveFormat[]) => ({
  200: {
    description: "The file, generated while it is sent",
    content: Object.fromEntries(
      formats.map((format) => [
        MEDIA_TYPES[format],
        { schema: z.string().openapi({ format: "binary" }) },
      ]),
    ),
    headers,
  },
  304: { description: NOT_MODIFIED, headers },
  ...refusals(401, 403, 404, 413, 422),
});

const RevisionPath = RepoPath.extend({
  revision: z
    .string()
    .openapi({ description: "Branch, tag, or commit id, which may be abbreviated" }),
});

archives.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/archive/{archive*}",
    operationId: "repoGetArchive",
    tags: ["repository"],
    summary: "Get an archive of a branch, tag or commit",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: {
      params: RepoPath.extend({
        archive: z.string().openapi({
          description: "A branch, tag or commit, followed by `.zip`, `.tar.gz` or `.bundle`",
          example: "main.tar.gz",
        }),
      }),
    },
    responses: { ...fileOf("zip", "tar.gz", "bundle"), ...refusals(400) },
  }),
  (c) => {
    const { ref, format } = parseArchiveName(c.req.valid("param").archive);
    return answerArchive(c, ref, format);
  },
);

archives.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/tarball/{revision*}",
    operationId: "repoGetTarball",
    tags: ["repository"],
    summary: "Get a branch, tag or commit as a gzip-compressed tar file",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RevisionPath },
    responses: fileOf("tar.gz"),
  }),
  (c) => answerArchive(c, c.req.valid("param").revision, "tar.gz"),
);

archives.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/zipball/{revision*}",
    operationId: "repoGetZipball",
    tags: ["repository"],
    summary: "Get a branch, tag or commit as a zip file",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RevisionPath },
    responses: fileOf("zip"),
  }),
  (c) => answerArchive(c, c.req.valid("param").revision, "zip"),
);

archives.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/bundle/{revision*}",
    operationId: "repoGetBundle",
    tags: ["repository"],
    summary: "Get a branch, tag or commit with its history as a git bundle",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RevisionPath },
    responses: fileOf("bundle"),
  }),
  (c) => answerArchive(c, c.req.valid("param").revision, "bundle"),
);

/** The context of a request that passed a repository guard. */
type ArchiveContext = Context<ApiEnv & { Variables: GuardVariables & { repo: RepositoryContext } }>;

async function answerArchive(
  c: ArchiveContext,
  ref: string,
  format: ArchiveFormat,
): Promise<Response> {
  const { ctx, repo, requestId } = c.var;
  return answerDownload(c.req.raw, await findArchive(ctx, repo, ref, format), (sentBytes) =>
    log("archive:sent", { id: requestId, ...ctx.git.usage.counts(), sentBytes }),
  );
}
