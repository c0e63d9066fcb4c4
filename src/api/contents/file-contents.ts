import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import { findContentRevision } from "../../domain/code/contents/find-entry.ts";
import { readManyContents } from "../../domain/code/contents/read-contents.ts";
import { noSuchRef } from "../../domain/code/git/no-such-ref.ts";
import { readSnapshot } from "../../domain/code/git/open-snapshot.ts";
import { malformed } from "../../lib/failure.ts";
import { ContentsResponse, toContents, type ContentRef } from "../../shapes/contents/contents.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Viewer } from "../../shapes/viewer.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { body } from "../json-body.ts";
import { RESPONSE_BYTES_MAX } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { RefQuery } from "./paths.ts";

const GetFiles = body({
  files: z.array(z.string()).openapi({ description: "The paths of the files" }),
}).openapi("GetFilesOptions");

const answers = {
  200: json(
    z.array(ContentsResponse.nullable()),
    "The entry of each path, in the order of the request; null for a path that does not exist. The list ends early if it exceeds the page size, or the response would be too large",
  ),
  ...refusals(401, 403, 404, 413, 422),
};

export const fileContents = endpoints();

fileContents.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/file-contents",
    operationId: "repoGetFileContents",
    tags: ["repository"],
    summary: "Get several files",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: {
      params: RepoPath,
      query: RefQuery.extend({
        body: z.string().default("").openapi({ description: `The paths: {"files": ["a", "b/c"]}` }),
      }),
    },
    responses: { ...answers, ...refusals(400) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { ref, body: text } = c.req.valid("query");
    return c.json(await shapeFiles(ctx, repo, viewer, ref, readFiles(text)), 200);
  },
);

fileContents.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/file-contents",
    operationId: "repoGetFileContentsPost",
    tags: ["repository"],
    summary: "Get several files, with the paths in the body",
    middleware: [inRepo("write:repository", { unit: "code", mode: "read" })] as const,
    request: {
      params: RepoPath,
      query: RefQuery,
      body: { required: true, ...json(GetFiles, "The paths") },
    },
    responses: { ...answers, ...refusals(413, 422) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { files } = c.req.valid("json");
    return c.json(await shapeFiles(ctx, repo, viewer, c.req.valid("query").ref, files), 200);
  },
);

/** Parses the paths in the query. */
function readFiles(text: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed("the query's body is not JSON");
  }
  const { data } = GetFiles.safeParse(value);
  if (!data) throw malformed('the query\'s body is not of the form {"files": ["a", "b/c"]}');
  return data.files;
}

async function shapeFiles(
  ctx: Ctx,
  repo: RepositoryContext,
  viewer: Viewer,
  ref: string,
  files: readonly string[],
) {
  const paths = files.slice(0, ctx.config.pageSizeMax);
  const { items, contentRef } = await readSnapshot(ctx, repo, async (snapshot) => {
    const revision = await findContentRevision(snapshot, repo, ref);
    if (!revision) throw noSuchRef(snapshot);
    const { kind, name } = revision;
    const from: ContentRef = { repository: repo, kind, name };
    const { repository } = snapshot;
    const read = await readManyContents(repository, revision, paths, RESPONSE_BYTES_MAX);
    return { items: read, contentRef: from };
  });
  return items.map((item) => (item ? toContents(item, contentRef, viewer) : null));
}
