import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";

import { COMMIT_STATES } from "../../db/schema/index.ts";
import { findRevision } from "../../domain/code/git/find-revision.ts";
import { noSuchRef } from "../../domain/code/git/no-such-ref.ts";
import { openSnapshot } from "../../domain/code/git/open-snapshot.ts";
import { createStatus } from "../../domain/code/statuses/create-status.ts";
import { requireStatusWriting } from "../../domain/code/statuses/require-status-writing.ts";
import {
  combineStatuses,
  listStatuses,
  type StatusQuery,
} from "../../domain/code/statuses/list-statuses.ts";
import type { Ctx } from "../../context.ts";
import type { Oid } from "../../git/oid.ts";
import {
  CombinedStatus,
  CommitStatus,
  toCombinedStatus,
  toCommitStatus,
} from "../../shapes/git/commit-status.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { json, page, refusals } from "../answers.ts";
import { type ApiEnv, endpoints } from "../endpoints.ts";
import type { GuardVariables } from "../guards/guard.ts";
import { inRepo, signedInRepo } from "../guards/repository.ts";
import { body, optionalText } from "../json-body.ts";
import { setPageHeaders, pageOf, Paging, readPage, readPageOrAll } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { CommitPath } from "./query.ts";

const CONTEXT_MAX = 1024;
const DESCRIPTION_MAX = 4096;
const URL_MAX = 2048;

const CreateStatus = body({
  state: z.enum(COMMIT_STATES),
  context: optionalText(CONTEXT_MAX).openapi({
    description: "The name of the check that reports the status",
  }),
  description: optionalText(DESCRIPTION_MAX),
  target_url: optionalText(URL_MAX).openapi({ description: "The URL of a page with details" }),
}).openapi("CreateStatusOption");

const RefPath = RepoPath.extend({
  ref: z.string().openapi({ description: "Branch, tag, or commit id, which may be abbreviated" }),
});

/**
 * The sort orders of a list. Statuses are never updated, so the order of updates is that of
 * creation.
 */
const IS_OLDEST_FIRST: Readonly<Record<string, boolean>> = {
  oldest: true,
  leastupdate: true,
  highestindex: true,
  recentupdate: false,
  leastindex: false,
};

const Listing = Paging.extend({
  sort: z
    .string()
    .optional()
    .openapi({
      description: `One of ${Object.keys(IS_OLDEST_FIRST).join(", ")}; newest first if empty`,
    }),
  state: z
    .string()
    .optional()
    .openapi({ description: `One of ${COMMIT_STATES.join(", ")}` }),
});

const toQuery = ({ sort = "", state }: z.infer<typeof Listing>): StatusQuery => ({
  isOldestFirst: Object.hasOwn(IS_OLDEST_FIRST, sort) && IS_OLDEST_FIRST[sort] === true,
  state: COMMIT_STATES.find((each) => each === state),
});

export const statuses = endpoints();

statuses.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/statuses/{sha*}",
    operationId: "repoCreateStatus",
    tags: ["repository"],
    summary: "Create a commit status",
    middleware: [signedInRepo("write:repository")] as const,
    request: { params: CommitPath, body: { required: true, ...json(CreateStatus, "The status") } },
    responses: { 201: json(CommitStatus, "The new status"), ...refusals(401, 403, 404, 413, 422) },
  }),
  async (c) => {
    const { ctx, viewer, user } = c.var;
    const repo = requireStatusWriting(c.var.repo);
    const input = c.req.valid("json");
    const commitOid = await findCommit(ctx, repo, c.req.valid("param").sha);
    const status = await createStatus(ctx, repo, commitOid, user, {
      state: input.state,
      context: input.context ?? "",
      description: input.description ?? "",
      targetUrl: input.target_url ?? "",
    });
    return c.json(toCommitStatus(repo, status, viewer), 201);
  },
);

statuses.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/statuses/{sha*}",
    operationId: "repoListStatuses",
    tags: ["repository"],
    summary: "List a commit's statuses",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: CommitPath, query: Listing },
    responses: {
      200: page(z.array(CommitStatus), "The statuses"),
      ...refusals(401, 403, 404, 413, 422),
    },
  }),
  async (c) => c.json(await listPage(c, c.req.valid("param").sha, c.req.valid("query")), 200),
);

statuses.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/commits/{ref*}/statuses",
    operationId: "repoListStatusesByRef",
    tags: ["repository"],
    summary: "List the statuses of a branch's or tag's commit",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RefPath, query: Listing },
    responses: {
      200: page(z.array(CommitStatus), "The statuses"),
      ...refusals(401, 403, 404, 413, 422),
    },
  }),
  async (c) => c.json(await listPage(c, c.req.valid("param").ref, c.req.valid("query")), 200),
);

statuses.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/commits/{ref*}/status",
    operationId: "repoGetCombinedStatusByRef",
    tags: ["repository"],
    summary: "Get the combined status of a branch's or tag's commit",
    middleware: [inRepo("read:repository", { unit: "code", mode: "read" })] as const,
    request: { params: RefPath, query: Paging },
    responses: {
      200: page(CombinedStatus, "The latest status of each context, and their combined state"),
      ...refusals(401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const commitOid = await findCommit(ctx, repo, c.req.valid("param").ref);
    const slice = readPage(ctx.config, c.req.valid("query"));
    const combined = await combineStatuses(ctx, repo.row, commitOid, slice);
    setPageHeaders(c, slice, combined.total);
    return c.json(toCombinedStatus(repo, { commitOid, ...combined }, viewer), 200);
  },
);

/** The context of a request that passed a repository guard. */
type StatusContext = Context<ApiEnv & { Variables: GuardVariables & { repo: RepositoryContext } }>;

/** Lists a page of a commit's statuses, and sets the pagination headers. */
async function listPage(c: StatusContext, revision: string, query: z.infer<typeof Listing>) {
  const { ctx, repo, viewer } = c.var;
  const commitOid = await findCommit(ctx, repo, revision);
  const list = (slice: Parameters<typeof listStatuses>[4]) =>
    listStatuses(ctx, repo.row, commitOid, toQuery(query), slice);
  const items = await pageOf(c, query, list, readPageOrAll);
  return items.map((item) => toCommitStatus(repo, item, viewer));
}

async function findCommit(ctx: Ctx, repo: RepositoryContext, text: string): Promise<Oid> {
  const snapshot = await openSnapshot(ctx, repo);
  const revision = await findRevision(snapshot, text);
  if (!revision) throw noSuchRef(snapshot);
  return revision.commitOid;
}
