import { createRoute, z } from "@hono/zod-openapi";

import {
  chooseHeadRepository,
  compareHistories,
  findChangedFiles,
  findRevisions,
  parseComparison,
} from "../../domain/commits/compare-revisions.ts";
import { readCommits } from "../../domain/commits/read-commits.ts";
import { openSideBySide } from "../../domain/git/open-snapshot.ts";
import { ChangedFile, toChangedFile } from "../../shapes/git/changed-file.ts";
import { Commit, toCommit } from "../../shapes/git/commit.ts";
import { Int64 } from "../../shapes/json.ts";
import { page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inNetwork } from "../guards/repository.ts";
import { setNumberedPageHeaders, Paging, readPage } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { ShownParts, toParts } from "./query.ts";

/** Commits of a comparison on a page, at most and where the query names no number. */
const PAGE_SIZE_MAX = 250;

const Compare = z
  .object({
    total_commits: Int64.openapi({ description: "Commits that only the head reaches" }),
    commits: z.array(Commit).openapi({ description: "A page of them, latest first" }),
    ahead_by: Int64.openapi({ description: "Commits that only the head reaches" }),
    behind_by: Int64.openapi({ description: "Commits that only the base reaches" }),
    merge_base_commit: Commit.nullable().openapi({
      description: "Their best common ancestor, the latest of several; null if they have none",
    }),
    files: z.array(ChangedFile).nullable().openapi({
      description:
        "What differs between the merge base and the head; with two dots, between the base and the head. Null where it is not asked for, or too much to be told",
    }),
  })
  .openapi("Compare");

const ComparePath = RepoPath.extend({
  basehead: z.string().openapi({
    description:
      "Two branches, tags or commits with `...` or `..` between them. The head may be in another repository of the same network: `owner:branch` or `owner/name:branch`",
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
    summary: "Compare two branches, tags or commits, also of two forks",
    middleware: [
      inNetwork("read:repository", { unit: "code", mode: "read" }, (c) => {
        const { headOwner, headRepo } = parseComparison(c.req.param("basehead") ?? "");
        return headOwner === undefined ? undefined : { owner: headOwner, repo: headRepo };
      }),
    ] as const,
    request: { params: ComparePath, query: Paging.extend(ShownParts.shape) },
    responses: {
      200: page(Compare, "How they differ; the page is one of commits"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, relatives, viewer } = c.var;
    const query = c.req.valid("query");
    const text = parseComparison(c.req.valid("param").basehead);
    const headEntry = chooseHeadRepository(repo, relatives, text);
    const [baseSnapshot, headSnapshot] = await openSideBySide(ctx, repo, headEntry);
    const revisions = findRevisions(baseSnapshot, headSnapshot, repo, text);
    const { repository } = headSnapshot;
    const { graph } = repository;

    const limit = query.limit > 0 ? query.limit : PAGE_SIZE_MAX;
    const slice = readPage(ctx.config, { page: query.page, limit }, PAGE_SIZE_MAX);
    const { nodes, aheadCount, behindCount, mergeBase } = compareHistories(graph, revisions, slice);
    const parts = toParts(query);
    const listed = mergeBase === undefined ? nodes : [...nodes, mergeBase];
    const read = await readCommits(ctx, headSnapshot, listed, parts);
    const [mergeBaseCommit] = mergeBase === undefined ? [] : read.splice(nodes.length);

    const oldNode = text.isDirect ? revisions.base.node : mergeBase;
    const files = parts.hasFiles
      ? await findChangedFiles(
          repository,
          oldNode === undefined ? undefined : graph.rootOid(oldNode),
          graph.rootOid(revisions.head.node),
        )
      : undefined;
    const sides = {
      old: oldNode === undefined ? undefined : { repository: repo, commitOid: graph.oid(oldNode) },
      fresh: { repository: headEntry, commitOid: revisions.head.commitOid },
    };
    setNumberedPageHeaders(c, slice, aheadCount);
    return c.json(
      {
        total_commits: aheadCount,
        commits: read.map((each) => toCommit(headEntry, each, viewer)),
        ahead_by: aheadCount,
        behind_by: behindCount,
        merge_base_commit: mergeBaseCommit ? toCommit(repo, mergeBaseCommit, viewer) : null,
        files: files?.map((each) => toChangedFile(each, sides, viewer)) ?? null,
      },
      200,
    );
  },
);
