import { createRoute, z } from "@hono/zod-openapi";

import { createBranch } from "../../domain/code/branches/create-branch.ts";
import { deleteBranch } from "../../domain/code/branches/delete-branch.ts";
import { findBranch } from "../../domain/code/branches/find-branch.ts";
import { listBranches, readBranch } from "../../domain/code/branches/list-branches.ts";
import { renameBranch } from "../../domain/code/branches/rename-branch.ts";
import { updateBranch } from "../../domain/code/branches/update-branch.ts";
import { openSnapshot } from "../../domain/code/git/open-snapshot.ts";
import { Branch, toBranch } from "../../shapes/git/branch.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { inRepo } from "../guards/repository.ts";
import { done } from "../handlers.ts";
import { body, optionalFlag, optionalText, requiredText } from "../json-body.ts";
import { Paging, pageOf } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";
import { BranchPath } from "./paths.ts";

const NAME_MAX = 100;
const OLD_NAME_MAX = 1000;

const CreateBranch = body({
  new_branch_name: requiredText(NAME_MAX).openapi({ description: "The name of the new branch" }),
  old_ref_name: optionalText(OLD_NAME_MAX).openapi({
    description:
      "The branch, tag or commit that the new branch starts at; the default branch if empty",
  }),
  old_branch_name: optionalText(OLD_NAME_MAX).openapi({
    deprecated: true,
    description: "The branch that the new branch starts at, if old_ref_name is empty",
  }),
}).openapi("CreateBranchRepoOption");

const RenameBranch = body({
  name: requiredText(NAME_MAX).openapi({ description: "The new name of the branch" }),
}).openapi("RenameBranchRepoOption");

const UpdateBranch = body({
  new_commit_id: requiredText(OLD_NAME_MAX).openapi({
    description: "The commit that the branch should point to, or a branch or tag of the commit",
  }),
  old_commit_id: optionalText(OLD_NAME_MAX).openapi({
    description:
      "The full id of the commit that the branch must point to before the update; any if empty",
  }),
  force: optionalFlag().openapi({
    description: "Whether to allow an update that is not a fast-forward",
  }),
}).openapi("UpdateBranchRepoOption");

export const branches = endpoints();

branches.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/branches",
    operationId: "repoListBranches",
    tags: ["repository"],
    summary: "List a repository's branches",
    middleware: [
      inRepo("read:repository", { unit: "code", mode: "read" }, { showsRules: true }),
    ] as const,
    request: { params: RepoPath, query: Paging },
    responses: {
      200: page(z.array(Branch), "The branches, newest commit first, then by name"),
      ...refusals(401, 403, 404, 413),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const snapshot = await openSnapshot(ctx, repo);
    const items = await pageOf(c, c.req.valid("query"), (slice) =>
      listBranches(ctx, repo, snapshot, slice),
    );
    return c.json(
      items.map((branch) => toBranch(repo, branch, viewer)),
      200,
    );
  },
);

branches.openapi(
  createRoute({
    method: "post",
    path: "/repos/{owner}/{repo}/branches",
    operationId: "repoCreateBranch",
    tags: ["repository"],
    summary: "Create a branch",
    middleware: [inRepo("write:repository", { unit: "code", mode: "write" })] as const,
    request: { params: RepoPath, body: { required: true, ...json(CreateBranch, "The branch") } },
    responses: {
      201: json(Branch, "The new branch"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const input = c.req.valid("json");
    const branch = await createBranch(ctx, repo, {
      name: input.new_branch_name,
      oldRef: input.old_ref_name,
      oldBranch: input.old_branch_name,
    });
    return c.json(toBranch(repo, branch, viewer), 201);
  },
);

branches.openapi(
  createRoute({
    method: "get",
    path: "/repos/{owner}/{repo}/branches/{branch*}",
    operationId: "repoGetBranch",
    tags: ["repository"],
    summary: "Get a branch",
    middleware: [
      inRepo("read:repository", { unit: "code", mode: "read" }, { showsRules: true }),
    ] as const,
    request: { params: BranchPath },
    responses: { 200: json(Branch, "The branch"), ...refusals(401, 403, 404, 413) },
  }),
  async (c) => {
    const { ctx, repo, viewer } = c.var;
    const snapshot = await openSnapshot(ctx, repo);
    const ref = findBranch(snapshot, c.req.valid("param").branch);
    return c.json(toBranch(repo, await readBranch(ctx, repo, snapshot, ref), viewer), 200);
  },
);

branches.openapi(
  createRoute({
    method: "patch",
    path: "/repos/{owner}/{repo}/branches/{branch*}",
    operationId: "repoRenameBranch",
    tags: ["repository"],
    summary: "Rename a branch",
    middleware: [inRepo("write:repository", { unit: "code", mode: "write" })] as const,
    request: {
      params: BranchPath,
      body: { required: true, ...json(RenameBranch, "The new name") },
    },
    responses: {
      204: empty("The branch was renamed"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  (c) =>
    done(c, ({ ctx, repo }) =>
      renameBranch(ctx, repo, c.req.valid("param").branch, c.req.valid("json").name),
    ),
);

branches.openapi(
  createRoute({
    method: "put",
    path: "/repos/{owner}/{repo}/branches/{branch*}",
    operationId: "repoUpdateBranch",
    tags: ["repository"],
    summary: "Update the commit of a branch",
    middleware: [inRepo("write:repository", { unit: "code", mode: "write" })] as const,
    request: { params: BranchPath, body: { required: true, ...json(UpdateBranch, "The commit") } },
    responses: {
      204: empty("The branch was updated"),
      ...refusals(401, 403, 404, 409, 413, 422, 423),
    },
  }),
  async (c) => {
    const { ctx, repo } = c.var;
    const input = c.req.valid("json");
    await updateBranch(ctx, repo, c.req.valid("param").branch, {
      to: input.new_commit_id,
      from: input.old_commit_id,
      isForced: input.force ?? false,
    });
    return c.body(null, 204);
  },
);

branches.openapi(
  createRoute({
    method: "delete",
    path: "/repos/{owner}/{repo}/branches/{branch*}",
    operationId: "repoDeleteBranch",
    tags: ["repository"],
    summary: "Delete a branch",
    middleware: [inRepo("write:repository", { unit: "code", mode: "write" })] as const,
    request: { params: BranchPath },
    responses: { 204: empty("The branch was deleted"), ...refusals(401, 403, 404, 409, 413, 423) },
  }),
  (c) => done(c, ({ ctx, repo }) => deleteBranch(ctx, repo, c.req.valid("param").branch)),
);
