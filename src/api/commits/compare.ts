import { createRoute, z } from "@hono/zod-openapi";

import {
  chooseHeadRepository,
  compareHistories,
  findChangedFiles,
  findRevisions,
  parseComparison,
} from "../../domain/code/commits/compare-revisions.ts";
import { readCommits } from "../../domain/code/commits/read-commits.ts";
import { readSideBySide, type Sides } from "../../domain/code/git/open-snapshot.ts";
import { ChangedFile, toChangedFile } from "../../shapes/git/changed-file.ts";
import { Commit, toCommit } from "../../shapes/git/commit.ts";
import { Int64 } from "../../shapes/json.ts";
import { numberedPage, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inNetwork } from "../guards/repository.ts";
import { setNumberedPageHeaders, Paging, readPage } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { ShownParts, toParts } from "./query.ts";

/** Maximum and default number of commits per page. */
const PAGE_SIZE_MAX = 250;

const Compare = z
  .object({
    total_commits: Int64.openapi({
      description:
        "The number of commits reachable from the head only; with three dots 0 for unrelated histories, whose commits are not listed",
    }),
    commits: z
      .array(Commit)
      .openapi({ description: "A page of the commits reachable from the head only, latest first" }),
    ahead_by: Int64.openapi({ description: "The number of commits reachable from the head only" }),
    behind_by: Int64.openapi({ description: "The number of commits reachable from the base only" }),
    merge_base_commit: Commit.nullable().openapi({
      description: "The merge base, the latest if there are several; null if there is none",
    }),
    files: z.array(ChangedFile).nullable().openapi({
      description:
        "The files that differ between the merge base and the head, all files of the head if there is none; with two dots, between the base and the head. Null if not requested, or too large",
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
    summary: "Compare two branches, tags or commits",
    middleware: [
      inNetwork("read:repository", { unit: "code", mode: "read" }, (c) => {
        const { headOwner, headRepo } = parseComparison(c.req.param("basehead") ?? "");
        return headOwner === undefined ? undefined : { owner: headOwner, repo: headRepo };
      }),
    ] as const,
    request: { params: ComparePath, query: Paging.extend(ShownParts.shape) },
    responses: {
      200: numberedPage(Compare, "The comparison; pagination applies to its commits"),
      ...refusals(401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, relatives, viewer } = c.var;
    const query = c.req.valid("query");
    const text = parseComparison(c.req.valid("param").basehead);
    const headRepository = chooseHeadRepository(repo, relatives, text);
    const limit = query.limit > 0 ? query.limit : PAGE_SIZE_MAX;
    const slice = readPage(ctx.config, { page: query.page, limit }, PAGE_SIZE_MAX);
    const compare = async ([baseSnapshot, headSnapshot]: Sides) => {
      const revisions = await findRevisions(baseSnapshot, headSnapshot, repo, text);
      const { repository } = headSnapshot;
      const { graph } = repository;
      const compared = await compareHistories(repository, revisions, slice, text.isDirect);
      const { nodes, mergeBase } = compared;
      const parts = toParts(query);
      const listed = mergeBase === undefined ? nodes : [...nodes, mergeBase];
      const commits = await readCommits(ctx, headSnapshot, listed, parts);
      const [base] = mergeBase === undefined ? [] : commits.splice(nodes.length);
      const oldNode = text.isDirect ? revisions.base.node : mergeBase;
      const oldTreeOid = oldNode === undefined ? undefined : await graph.loadRootOid(oldNode);
      const newTreeOid = await graph.loadRootOid(revisions.head.node);
      const changed = parts.hasFiles
        ? await findChangedFiles(repository, oldTreeOid, newTreeOid)
        : undefined;
      const old = oldNode === undefined ? undefined : graph.oid(oldNode);
      return {
        ...compared,
        read: commits,
        mergeBaseCommit: base,
        files: changed,
        sides: {
          old: old === undefined ? undefined : { repository: repo, commitOid: old },
          fresh: { repository: headRepository, commitOid: revisions.head.commitOid },
        },
      };
    };
    const { commitCount, aheadCount, behindCount, read, mergeBaseCommit, files, sides } =
      await readSideBySide(ctx, repo, headRepository, compare);
    setNumberedPageHeaders(c, slice, commitCount);
    return c.json(
      {
        total_commits: commitCount,
        commits: read.map((each) => toCommit(headRepository, each, viewer)),
        ahead_by: aheadCount,
        behind_by: behindCount,
        merge_base_commit: mergeBaseCommit ? toCommit(repo, mergeBaseCommit, viewer) : null,
        files: files?.map((each) => toChangedFile(each, sides, viewer)) ?? null,
      },
      200,
    );
  },
);
