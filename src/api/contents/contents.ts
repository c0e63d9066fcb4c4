import { createRoute, z } from "@hono/zod-openapi";

import type { Ctx } from "../../context.ts";
import { findContentRevision, splitPath } from "../../domain/contents/find-entry.ts";
import { readContents, type Contents, type Includes } from "../../domain/contents/read-contents.ts";
import { openCode } from "../../domain/git/open-code.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import {
  ContentsExtResponse,
  ContentsResponse,
  toContents,
  type ContentPlace,
} from "../../shapes/contents.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import type { Viewer } from "../../shapes/viewer.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { RepoPath } from "../repos/paths.ts";
import { FilePath, RefQuery } from "./paths.ts";

/** What `/contents` tells, which has no choice. */
const ALL: Includes = { content: true, lfs: true, commit: true };

const INCLUDES: Readonly<Record<string, Includes>> = {
  file_content: { content: true },
  lfs_metadata: { lfs: true },
  commit_metadata: { commit: true },
  commit_message: { message: true },
};

export const contents = endpoints();

contents.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/contents",
    operationId: "repoGetContentsList",
    tags: ["repository"],
    summary: "List what stands at the root of a repository",
    middleware: [inRepo("read:repository")] as const,
    request: { params: RepoPath, query: RefQuery },
    responses: {
      200: json(z.array(ContentsResponse), "In the order of the tree"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, entry, viewer } = c.var;
    return c.json(await listRoot(ctx, entry, viewer, c.req.valid("query").ref), 200);
  },
);

// Clients that put an empty path behind the slash mean the root.
contents.get("/repos/:owner/:repo/contents/", inRepo("read:repository"), async (c) => {
  const { ctx, entry, viewer } = c.var;
  return c.json(await listRoot(ctx, entry, viewer, c.req.query("ref") ?? ""), 200);
});

async function listRoot(ctx: Ctx, entry: RepositoryEntry, viewer: Viewer, ref: string) {
  const { found, place } = await findContents(ctx, entry, "", ref, ALL);
  if (found.kind !== "directory") throw notFound();
  return found.items.map((item) => toContents(item, place, viewer));
}

contents.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/contents/{filepath*}",
    operationId: "repoGetContents",
    tags: ["repository"],
    summary: "Get what stands at a path: a file with its content, or a directory",
    middleware: [inRepo("read:repository")] as const,
    request: { params: FilePath, query: RefQuery },
    responses: {
      200: json(
        ContentsResponse.or(z.array(ContentsResponse)),
        "What stands there; an array for a directory",
      ),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, entry, viewer } = c.var;
    const { filepath } = c.req.valid("param");
    const { ref } = c.req.valid("query");
    const { found, place } = await findContents(ctx, entry, filepath, ref, ALL);
    if (found.kind === "item") return c.json(toContents(found.item, place, viewer), 200);
    return c.json(
      found.items.map((item) => toContents(item, place, viewer)),
      200,
    );
  },
);

contents.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/contents-ext/{filepath*}",
    operationId: "repoGetContentsExt",
    tags: ["repository"],
    summary: "Get what stands at a path, and of it what is asked for",
    middleware: [inRepo("read:repository")] as const,
    request: {
      params: FilePath,
      query: RefQuery.extend({
        includes: z
          .string()
          .default("")
          .openapi({ description: `Of ${Object.keys(INCLUDES).join(", ")}, with commas between` }),
      }),
    },
    responses: {
      200: json(ContentsExtResponse, "What stands there, as one of the two fields"),
      ...refusals(400, 401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, entry, viewer } = c.var;
    const { ref, includes } = c.req.valid("query");
    const { filepath } = c.req.valid("param");
    return c.json(await tellExtended(ctx, entry, viewer, filepath, ref, includes), 200);
  },
);

contents.get("/repos/:owner/:repo/contents-ext/", inRepo("read:repository"), async (c) => {
  const { ctx, entry, viewer } = c.var;
  const { ref = "", includes = "" } = c.req.query();
  return c.json(await tellExtended(ctx, entry, viewer, "", ref, includes), 200);
});

async function tellExtended(
  ctx: Ctx,
  entry: RepositoryEntry,
  viewer: Viewer,
  path: string,
  ref: string,
  includes: string,
): Promise<z.infer<typeof ContentsExtResponse>> {
  const wanted = readIncludes(includes);
  const { found, place } = await findContents(ctx, entry, path, ref, wanted);
  return found.kind === "item"
    ? { file_contents: toContents(found.item, place, viewer) }
    : { dir_contents: found.items.map((item) => toContents(item, place, viewer)) };
}

function readIncludes(text: string): Includes {
  const includes: Includes = {};
  for (const word of text.split(",").filter((each) => each !== "")) {
    if (!Object.hasOwn(INCLUDES, word)) throw malformed(`unknown include ${JSON.stringify(word)}`);
    Object.assign(includes, INCLUDES[word]);
  }
  return includes;
}

/** @throws Failure `not_found` where nothing stands; a repository without a commit has an empty root. */
async function findContents(
  ctx: Ctx,
  entry: RepositoryEntry,
  path: string,
  ref: string,
  includes: Includes,
): Promise<{ found: Contents; place: ContentPlace }> {
  const code = await openCode(ctx, entry);
  const names = splitPath(path);
  const revision = findContentRevision(code, entry, ref);
  if (!revision) {
    if (code.snapshot.refs.length > 0 || ref !== "" || names.length > 0) throw notFound();
    const place: ContentPlace = { repository: entry, kind: "branch", name: "" };
    return { found: { kind: "directory", items: [] }, place };
  }
  const found = await readContents(code.repository, revision, names, includes);
  if (!found) throw notFound();
  return { found, place: { repository: entry, kind: revision.kind, name: revision.name } };
}
