import { createRoute, z } from "@hono/zod-openapi";

import { findComparison } from "../../domain/commits/compare-revisions.ts";
import { listCommits } from "../../domain/commits/list-commits.ts";
import { readCommits } from "../../domain/commits/read-commits.ts";
import { openCode } from "../../domain/git/open-code.ts";
import { Commit, toCommit } from "../../shapes/commit.ts";
import { Int64 } from "../../shapes/json.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { RepoPath } from "../repos/paths.ts";
import { ShownParts, toParts } from "./query.ts";

/** Commits of a comparison that are told; the others are counted. */
const COMMITS_MAX = 250;

const Compare = z
  .object({
    total_commits: Int64,
    commits: z.array(Commit).openapi({ description: "Latest first, 250 at most" }),
  })
  .openapi("Compare");

const ComparePath = RepoPath.extend({
  basehead: z.string().openapi({
    description: "Two branches, tags or commits with `...` or `..` between them",
    example: "main...feature",
  }),
});

export const comparisons = endpoints();

comparisons.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/compare/{basehead*}",
    operationId: "repoCompareDiff",
    tags: ["repository"],
    summary: "List the commits that one branch has and another has not",
    middleware: [inRepo("read:repository")] as const,
    request: { params: ComparePath, query: ShownParts },
    responses: {
      200: json(Compare, "What the head reaches and the base does not"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, entry, viewer } = c.var;
    const code = await openCode(ctx, entry);
    const { base, head } = findComparison(code, entry, c.req.valid("param").basehead);
    const range = { tips: [head.node], excluded: [base.node] };
    const { items, total } = await listCommits(code, range, { size: COMMITS_MAX, offset: 0 });
    const read = await readCommits(ctx, code, items, toParts(c.req.valid("query")));
    return c.json(
      { total_commits: total, commits: read.map((each) => toCommit(entry, each, viewer)) },
      200,
    );
  },
);
