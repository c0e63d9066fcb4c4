import { z } from "@hono/zod-openapi";

import { ACCESS } from "../../db/schema/index.ts";
import { Int64 } from "../json.ts";
import { PayloadCommit, type PayloadCommitEntry, toPayloadCommit } from "./payload-commit.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import type { Viewer } from "../viewer.ts";

export const Branch = z
  .object({
    name: z.string().openapi({ example: "main" }),
    commit: PayloadCommit,
    protected: z.boolean(),
    required_approvals: Int64,
    enable_status_check: z.boolean(),
    status_check_contexts: z.array(z.string()),
    user_can_push: z.boolean(),
    user_can_merge: z.boolean(),
    effective_branch_protection_name: z.string(),
  })
  .openapi("Branch");
export type Branch = z.infer<typeof Branch>;

/** A branch with its head commit. */
export interface BranchEntry {
  readonly name: string;
  readonly head: PayloadCommitEntry;
}

/** Formats a branch for `viewer`. Branch protection is not supported, so no branch is protected. */
export function toBranch(repo: RepositoryContext, branch: BranchEntry, viewer: Viewer): Branch {
  const canWrite = repo.permission.units.code >= ACCESS.write;
  return {
    name: branch.name,
    commit: toPayloadCommit(repo, branch.head, viewer),
    protected: false,
    required_approvals: 0,
    enable_status_check: false,
    status_check_contexts: [],
    user_can_push: canWrite,
    user_can_merge: canWrite,
    effective_branch_protection_name: "",
  };
}
