import { createRoute, z } from "@hono/zod-openapi";

import { listRefs } from "../../domain/code/git/list-refs.ts";
import { pullRefsOf } from "../../domain/code/git/pull-refs.ts";
import { openSnapshot } from "../../domain/code/git/open-snapshot.ts";
import type { Slice } from "../../domain/slice.ts";
import { Reference, toReference } from "../../shapes/git/reference.ts";
import { page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { Paging, pageOf, readPageOrAll } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";

export const refs = endpoints();

refs.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/git/refs",
    operationId: "repoListAllGitRefs",
    tags: ["repository"],
    summary: "List a repository's refs",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(Reference), "The refs, by name"),
      ...refusals(401, 403, 404, 413),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const snapshot = await openSnapshot(ctx, repo, undefined, "all");
    const list = async (slice: Slice) => listRefs(snapshot, "", slice);
    const items = await pageOf(c, c.req.valid("query"), list, readPageOrAll);
    return c.json(
      items.map((ref) => toReference(repo, ref, viewer)),
      200,
    );
  },
);

refs.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/git/refs/{ref*}",
    operationId: "repoListGitRefs",
    tags: ["repository"],
    summary: "List a repository's refs with a name prefix",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: {
      params: RepoPath.extend({
        ref: z.string().openapi({
          description: "The prefix of the names without `refs/`, such as `heads/main` or `tags`",
        }),
      }),
      query: Paging,
    },
    responses: {
      200: page(z.array(Reference), "The refs, by name"),
      ...refusals(401, 403, 404, 413),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const { ref: prefix } = c.req.valid("param");
    const pulls = pullRefsOf([`refs/${prefix}`]);
    const snapshot = await openSnapshot(ctx, repo, undefined, pulls);
    const list = async (slice: Slice) => listRefs(snapshot, prefix, slice);
    const items = await pageOf(c, c.req.valid("query"), list, readPageOrAll);
    return c.json(
      items.map((ref) => toReference(repo, ref, viewer)),
      200,
    );
  },
);
