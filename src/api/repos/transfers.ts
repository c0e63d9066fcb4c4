import { createRoute, z } from "@hono/zod-openapi";

import { acceptTransfer, rejectTransfer } from "../../domain/repos/transfers/answer-transfer.ts";
import { startTransfer, TRANSFER_TEAMS_MAX } from "../../domain/repos/transfers/start-transfer.ts";
import { Int64 } from "../../shapes/json.ts";
import { Repository, toRepository } from "../../shapes/repos/repository.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedInRepo } from "../guards/repository.ts";
import { body } from "../json-body.ts";
import { RepoPath } from "./paths.ts";

const TransferRepo = body({
  new_owner: z.string().max(40).default("").openapi({ description: "A user or an organization" }),
  team_ids: z.array(Int64).max(TRANSFER_TEAMS_MAX).optional().openapi({
    description: "Teams of the new owner, an organization, that are to reach the repository",
  }),
}).openapi("TransferRepoOption");

export const transfers = endpoints();

transfers.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/transfer",
    operationId: "repoTransfer",
    tags: ["repository"],
    summary: "Transfer a repository to another owner",
    description:
      "It moves at once to the caller and to organizations in which the caller may create repositories; others have to accept. Its own owner as the new one ends a pending transfer.",
    middleware: [signedInRepo("write:repository", { mode: "owner" })] as const,
    request: { params: RepoPath, body: { required: true, ...json(TransferRepo, "The new owner") } },
    responses: {
      201: json(Repository, "The repository, with the transfer that waits for its recipient"),
      202: json(Repository, "The repository at its owner after the request"),
      ...refusals(401, 403, 404, 409, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, user, viewer } = c.var;
    const { new_owner: name, team_ids: teamIds = [] } = c.req.valid("json");
    const started = await startTransfer(ctx, repo, user, { name, teamIds });
    const shown = toRepository(started.repo, viewer);
    return started.isPending ? c.json(shown, 201) : c.json(shown, 202);
  },
);

transfers.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/transfer/accept",
    operationId: "acceptRepoTransfer",
    tags: ["repository"],
    summary: "Accept the transfer of a repository",
    middleware: [signedInRepo("write:repository")] as const,
    request: { params: RepoPath },
    responses: {
      202: json(Repository, "The repository at its new owner"),
      ...refusals(401, 403, 404, 413, 422),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    return c.json(toRepository(await acceptTransfer(ctx, repo), viewer), 202);
  },
);

transfers.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/transfer/reject",
    operationId: "rejectRepoTransfer",
    tags: ["repository"],
    summary: "Reject the transfer of a repository",
    middleware: [signedInRepo("write:repository")] as const,
    request: { params: RepoPath },
    responses: {
      200: json(Repository, "The repository, at its owner as before"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    return c.json(toRepository(await rejectTransfer(ctx, repo), viewer), 200);
  },
);
