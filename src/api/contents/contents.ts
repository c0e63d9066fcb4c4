import { createRoute, z } from "@hono/zod-openapi";

import { findContentRevision, splitPath } from "../../domain/code/contents/find-entry.ts";
import {
  readContents,
  type Contents,
  type Includes,
} from "../../domain/code/contents/read-contents.ts";
import { isPinned } from "../../domain/code/git/find-revision.ts";
import { noSuchRef } from "../../domain/code/git/no-such-ref.ts";
import {
  hasRefs,
  readSnapshot,
  type RepositorySnapshot,
} from "../../domain/code/git/open-snapshot.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import {
  type ContentItem,
  ContentsExtResponse,
  ContentsResponse,
  toContents,
  type ContentRef,
} from "../../shapes/contents/contents.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { Viewer } from "../../shapes/viewer.ts";
import { json, refusals } from "../answers.ts";
import { immutableHeaders } from "../../entrance/immutable-headers.ts";
import { answerConditionally } from "../conditional.ts";
import { endpoints } from "../endpoints.ts";
import type { GuardVariables } from "../guards/guard.ts";
import { inRepo } from "../guards/repository.ts";
import { answerWritten, writeList } from "../json-in-turns.ts";
import { RepoPath } from "../repos/paths.ts";
import { FilePath, RefQuery } from "./paths.ts";

/** The variables of a request that passed a repository guard. */
type RequestVariables = Pick<GuardVariables, "ctx" | "viewer"> & { repo: RepositoryContext };

/** The parts that `/contents` always includes. */
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
    summary: "List the entries of a repository's root directory",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RepoPath, query: RefQuery },
    responses: {
      200: json(z.array(ContentsResponse), "The entries, in tree order"),
      ...refusals(401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { list, headers } = await listRoot(c.var, c.req.valid("query").ref);
    return answerWritten<ContentsList>(c, list, headers);
  },
);

// Clients request the root with an empty path after the slash.
contents.get(
  "/repos/:owner/:repo/contents/",
  inRepo("read:repository", { unit: "code", mode: "read" }),
  answerConditionally,
  async (c) => {
    const { list, headers } = await listRoot(c.var, c.req.query("ref") ?? "");
    return answerWritten<ContentsList>(c, list, headers);
  },
);

async function listRoot(request: RequestVariables, ref: string) {
  const { found, contentRef, headers } = await findContents(request, "", ref, ALL);
  if (found.kind !== "directory") throw notFound("no directory", "no-such-path");
  return { list: await writeItems(found.items, contentRef, request.viewer), headers };
}

contents.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/contents/{filepath*}",
    operationId: "repoGetContents",
    tags: ["repository"],
    summary: "Get a file with its content, or the entries of a directory",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: FilePath, query: RefQuery },
    responses: {
      200: json(
        ContentsResponse.or(z.array(ContentsResponse)),
        "The file, or an array of the directory's entries",
      ),
      ...refusals(401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { viewer } = c.var;
    const { filepath } = c.req.valid("param");
    const { ref } = c.req.valid("query");
    const { found, contentRef, headers } = await findContents(c.var, filepath, ref, ALL);
    if (found.kind === "item")
      return c.json(toContents(found.item, contentRef, viewer), 200, headers);
    const list = await writeItems(found.items, contentRef, viewer);
    return answerWritten<ContentsList>(c, list, headers);
  },
);

contents.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/contents-ext/{filepath*?}",
    operationId: "repoGetContentsExt",
    tags: ["repository"],
    summary: "Get the requested fields of a file or directory",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: {
      params: FilePath,
      query: RefQuery.extend({
        includes: z
          .string()
          .default("")
          .openapi({ description: `Comma-separated list of ${Object.keys(INCLUDES).join(", ")}` }),
      }),
    },
    responses: {
      200: json(
        ContentsExtResponse,
        "The file in `file_contents`, or the entries of the directory in `dir_contents`",
      ),
      ...refusals(400, 401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { ref, includes } = c.req.valid("query");
    const { filepath } = c.req.valid("param");
    const { text, headers } = await readExtended(c.var, filepath, ref, includes);
    return answerWritten<z.infer<typeof ContentsExtResponse>>(c, text, headers);
  },
);

contents.get(
  "/repos/:owner/:repo/contents-ext/",
  inRepo("read:repository", { unit: "code", mode: "read" }),
  answerConditionally,
  async (c) => {
    const { ref = "", includes = "" } = c.req.query();
    const { text, headers } = await readExtended(c.var, "", ref, includes);
    return answerWritten<z.infer<typeof ContentsExtResponse>>(c, text, headers);
  },
);

async function readExtended(
  request: RequestVariables,
  path: string,
  ref: string,
  includes: string,
) {
  const { viewer } = request;
  const included = readIncludes(includes);
  const { found, contentRef, headers } = await findContents(request, path, ref, included);
  const text =
    found.kind === "item"
      ? JSON.stringify({ file_contents: toContents(found.item, contentRef, viewer) })
      : `{"dir_contents":${await writeItems(found.items, contentRef, viewer)}}`;
  return { text, headers };
}

/** Steps to shape an entry, and to write it as JSON. */
const ENTRY_STEPS = 5000;

type ContentsList = z.infer<typeof ContentsResponse>[];

/** The entries of a directory, of which there may be very many, as JSON. */
const writeItems = (
  items: readonly ContentItem[],
  contentRef: ContentRef,
  viewer: Viewer,
): Promise<string> => writeList(items, (item) => toContents(item, contentRef, viewer), ENTRY_STEPS);

function readIncludes(text: string): Includes {
  const includes: Includes = {};
  for (const word of text.split(",").filter((each) => each !== "")) {
    if (!Object.hasOwn(INCLUDES, word)) throw malformed(`unknown include ${JSON.stringify(word)}`);
    Object.assign(includes, INCLUDES[word]);
  }
  return includes;
}

interface FoundContents {
  readonly found: Contents;
  readonly contentRef: ContentRef;
  readonly headers: Record<string, string>;
}

/**
 * @throws Failure `not_found` if the path does not exist; an empty repository has an empty root
 *   directory.
 */
function findContents(
  request: RequestVariables,
  path: string,
  ref: string,
  includes: Includes,
): Promise<FoundContents> {
  return readSnapshot(request.ctx, request.repo, (snapshot) =>
    findContentsIn(snapshot, request, path, ref, includes),
  );
}

async function findContentsIn(
  snapshot: RepositorySnapshot,
  { ctx, repo }: RequestVariables,
  path: string,
  ref: string,
  includes: Includes,
): Promise<FoundContents> {
  const names = splitPath(path);
  const revision = await findContentRevision(snapshot, repo, ref);
  if (!revision) {
    if (hasRefs(snapshot.state) || ref !== "" || names.length > 0) throw noSuchRef(snapshot);
    const contentRef: ContentRef = { repository: repo, kind: "branch", name: "" };
    return { found: { kind: "directory", items: [] }, contentRef, headers: {} };
  }
  const withSizes = { ...includes, size: true };
  const found = await readContents(snapshot.repository, revision, names, withSizes);
  if (!found) throw notFound("no such path", "no-such-path");
  const contentRef: ContentRef = { repository: repo, kind: revision.kind, name: revision.name };
  const headers = isPinned(revision, ref) ? immutableHeaders({ ctx }, repo) : {};
  return { found, contentRef, headers };
}
