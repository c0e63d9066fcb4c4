import { createRoute, z } from "@hono/zod-openapi";

import { formatDiff } from "../../domain/code/commits/format-diff.ts";
import { formatPatches } from "../../domain/code/commits/format-patches.ts";
import { type CommitQuery, listCommits } from "../../domain/code/commits/list-commits.ts";
import { findOwnTrees } from "../../domain/code/commits/own-trees.ts";
import { readCommits } from "../../domain/code/commits/read-commits.ts";
import { findRevision, isPinned, type Revision } from "../../domain/code/git/find-revision.ts";
import { noSuchRef } from "../../domain/code/git/no-such-ref.ts";
import {
  hasRefs,
  readSnapshot,
  type RepositorySnapshot,
} from "../../domain/code/git/open-snapshot.ts";
import type { Node } from "../../git/walk/commit-graph.ts";
import { conflict, invalidField, notFound } from "../../lib/failure.ts";
import { Commit, toCommit } from "../../shapes/git/commit.ts";
import { json, numberedPage, refusals } from "../answers.ts";
import { immutableHeaders } from "../../entrance/immutable-headers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { setNumberedPageHeaders, Paging, readPage } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { CommitPath, ShownParts, toParts } from "./query.ts";

/** Commits per page of a path's history; the query's `limit` does not apply there. */
const PATH_PAGE_SIZE = 50;

const Listing = Paging.extend(ShownParts.shape).extend({
  sha: z.string().optional().openapi({
    description: "Branch, tag or commit where the list starts; the default branch if empty",
  }),
  path: z.string().optional().openapi({ description: "Only commits that changed this path" }),
  since: z
    .string()
    .optional()
    .openapi({ format: "date-time", description: "Only commits at or after this time" }),
  until: z
    .string()
    .optional()
    .openapi({ format: "date-time", description: "Only commits at or before this time" }),
  not: z.string().optional().openapi({
    description: "Branch, tag or commit whose reachable commits are excluded",
  }),
});

export const commits = endpoints();

commits.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/commits",
    operationId: "repoGetAllCommits",
    tags: ["repository"],
    summary: "List a repository's commits",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RepoPath, query: Listing },
    responses: {
      200: numberedPage(z.array(Commit), "The commits, latest first, in the order of `git log`"),
      ...refusals(401, 403, 404, 409, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const query = c.req.valid("query");
    const sinceSeconds = readMoment(query.since, "since");
    const untilSeconds = readMoment(query.until, "until");
    const slice = readPage(
      ctx.config,
      query.path ? { page: query.page, limit: PATH_PAGE_SIZE } : query,
    );
    const { read, total } = await readSnapshot(ctx, repo, async (snapshot) => {
      if (!hasRefs(snapshot.state)) throw conflict("Git Repository is empty.");
      const start = await requireRevision(snapshot, query.sha || repo.row.defaultBranch);
      const commitQuery: CommitQuery = {
        tips: [start.node],
        excluded: query.not ? [(await requireRevision(snapshot, query.not)).node] : [],
        path: query.path || undefined,
        ...(sinceSeconds !== undefined && { sinceSeconds }),
        ...(untilSeconds !== undefined && { untilSeconds }),
      };
      const listed = await listCommits(snapshot, commitQuery, slice);
      const isPathUnknown = listed.total === 0 && query.path;
      if (isPathUnknown) throw notFound("no commit changed the path", "no-such-path");
      const commitEntries = await readCommits(ctx, snapshot, listed.items, toParts(query));
      return { read: commitEntries, total: listed.total };
    });
    setNumberedPageHeaders(c, slice, total);
    return c.json(
      read.map((each) => toCommit(repo, each, viewer)),
      200,
    );
  },
);

// Before the route of the commit, which would read the suffix as part of the name.
commits.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/git/commits/{sha}.{diffType}",
    operationId: "repoDownloadCommitDiffOrPatch",
    tags: ["repository"],
    summary: "Get a commit as a diff or patch",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: {
      params: CommitPath.extend({
        diffType: z
          .enum(["diff", "patch"])
          .openapi({ description: "The format: that of `git diff`, or of `git format-patch`" }),
      }),
    },
    responses: {
      200: {
        description:
          "The difference to the first parent; for a merge in patch format, the merged commits",
        content: { "text/plain": { schema: z.string() } },
      },
      ...refusals(401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const { sha, diffType } = c.req.valid("param");
    const format = diffType === "diff" ? diffOf : formatPatches;
    const { text, revision } = await readSnapshot(ctx, repo, async (snapshot) => {
      const found = await requireRevision(snapshot, sha);
      return { text: await format(snapshot, found.node), revision: found };
    });
    return c.body(text as Uint8Array<ArrayBuffer>, 200, {
      "Content-Type": "text/plain; charset=utf-8",
      ...(isPinned(revision, sha) && immutableHeaders(c.var, repo)),
    });
  },
);

commits.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/git/commits/{sha*}",
    operationId: "repoGetSingleCommit",
    tags: ["repository"],
    summary: "Get a commit",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: CommitPath, query: ShownParts },
    responses: { 200: json(Commit, "The commit"), ...refusals(401, 403, 404, 413, 422) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const [read] = await readSnapshot(ctx, repo, async (snapshot) => {
      const { node } = await requireRevision(snapshot, c.req.valid("param").sha);
      return readCommits(ctx, snapshot, [node], toParts(c.req.valid("query")));
    });
    if (!read) throw notFound();
    return c.json(toCommit(repo, read, viewer), 200);
  },
);

async function diffOf({ repository }: RepositorySnapshot, node: Node): Promise<Uint8Array> {
  const { oldTreeOid, newTreeOid } = await findOwnTrees(repository.graph, node);
  return formatDiff(repository, oldTreeOid, newTreeOid);
}

async function requireRevision(snapshot: RepositorySnapshot, text: string): Promise<Revision> {
  const found = await findRevision(snapshot, text);
  if (!found) throw noSuchRef(snapshot);
  return found;
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/**
 * A time in the query, in seconds since 1970; undefined if it is missing.
 *
 * @throws Failure `invalid` if it is not in RFC 3339 format.
 */
function readMoment(text: string | undefined, field: string): number | undefined {
  if (!text) return undefined;
  const milliseconds = MOMENT.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(milliseconds)) {
    throw invalidField(field, "must be a time in RFC 3339, such as 2026-01-31T08:15:00Z");
  }
  return Math.floor(milliseconds / 1000);
}
