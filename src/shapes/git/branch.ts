import { z } from "@hono/zod-openapi";

import { ACCESS, type BranchProtection } from "../../db/schema/index.ts";
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
    effective_branch_protection_name: z.string().openapi({
      description:
        "The rule that protects it, of the repository or else of its organization; for administrators of the repository",
    }),
  })
  .openapi("Branch");
export type Branch = z.infer<typeof Branch>;

/** A branch with its head commit. */
export interface BranchEntry {
  readonly name: string;
  readonly head: PayloadCommitEntry;
  /** The rules that it is under, the repository's own first. */
  readonly rules: readonly BranchProtection[];
  /** Whether the rules let the viewer push to it, and merge into it. */
  readonly isPushable: boolean;
  readonly isMergeable: boolean;
}

/** Formats a branch for `viewer`. Of several rules it shows what they require together. */
export function toBranch(repo: RepositoryContext, branch: BranchEntry, viewer: Viewer): Branch {
  const { rules } = branch;
  const canWrite = repo.permission.units.code >= ACCESS.write;
  const isAdmin = repo.permission.mode >= ACCESS.admin;
  return {
    name: branch.name,
    commit: toPayloadCommit(repo, branch.head, viewer),
    protected: rules.length > 0,
    required_approvals: Math.max(0, ...rules.map(({ settings }) => settings.requiredApprovals)),
    enable_status_check: rules.some(({ settings }) => settings.isStatusCheckEnabled),
    status_check_contexts: [...new Set(rules.flatMap(({ settings }) => settings.statusContexts))],
    user_can_push: canWrite && branch.isPushable,
    user_can_merge: canWrite && branch.isMergeable,
    effective_branch_protection_name: isAdmin ? (rules[0]?.name ?? "") : "",
  };
}
