import { createRoute, z } from "@hono/zod-openapi";

import { findTree } from "../../domain/code/contents/find-object.ts";
import { listTree } from "../../domain/code/contents/list-tree.ts";
import { readSnapshot } from "../../domain/code/git/open-snapshot.ts";
import { resident } from "../../git/catalog/block-pool.ts";
import { malformed } from "../../lib/failure.ts";
import { GitTreeResponse, toGitEntry } from "../../shapes/git/git-tree.ts";
import { apiUrlOf } from "../../shapes/urls.ts";
import { json, refusals } from "../answers.ts";
import { immutableHeaders } from "../../entrance/immutable-headers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { queryFlag, queryInteger } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";

/** Maximum and default number of entries per page. */
const PAGE_SIZE_MAX = 1000;
/** Pages beyond this are empty anyway. */
const PAGE_NUMBER_MAX = 1_000_000_000;

export const trees = endpoints();

trees.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/git/trees/{sha*}",
    operationId: "GetTree",
    tags: ["repository"],
    summary: "Get a tree",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: {
      params: RepoPath.extend({
        sha: z.string().openapi({ description: "The id of a tree or commit, a branch or a tag" }),
      }),
      query: z.object({
        recursive: queryFlag("Whether to list the entries of subtrees too"),
        page: queryInteger("Page number, from 1"),
        per_page: queryInteger(`Entries per page, at most ${PAGE_SIZE_MAX}`),
      }),
    },
    responses: {
      200: json(GitTreeResponse, "A page of the tree, in tree order"),
      ...refusals(400, 401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const query = c.req.valid("query");
    const number = Math.min(Math.max(query.page, 1), PAGE_NUMBER_MAX);
    const size = query.per_page > 0 ? Math.min(query.per_page, PAGE_SIZE_MAX) : PAGE_SIZE_MAX;
    const offset = (number - 1) * size;
    const isRecursive = query.recursive ?? false;
    const { items, total, sha, isPinned } = await readSnapshot(ctx, repo, async (snapshot) => {
      const found = await findTree(snapshot, c.req.valid("param").sha);
      if (!found) throw malformed("sha not found");
      const { repository } = snapshot;
      const listed = await listTree(repository, found.location, isRecursive, { offset, size });
      const treeOid = await resident(() => repository.catalog.oid(found.location));
      return { ...listed, sha: treeOid, isPinned: found.isPinned };
    });
    return c.json(
      {
        sha,
        url: `${apiUrlOf(repo, viewer)}/git/trees/${sha}`,
        tree: items.map((item) => toGitEntry(item, repo, viewer)),
        truncated: offset + items.length < total,
        page: number,
        total_count: total,
      },
      200,
      isPinned ? immutableHeaders(c.var, repo) : {},
    );
  },
);
