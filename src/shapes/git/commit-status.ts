import { z } from "@hono/zod-openapi";

import {
  COMMIT_STATES,
  type CommitStatus as CommitStatusRow,
  type User as UserRow,
} from "../../db/schema/index.ts";
import type { Oid } from "../../git/oid.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import { Repository, toRepository, type RepositoryContext } from "../repos/repository.ts";
import { apiUrlOf, objectUrlOf } from "../urls.ts";
import { toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

const Url = z.string().openapi({ format: "uri" });

export const CommitStatus = z
  .object({
    id: Int64.openapi({ description: "Number of the status within its commit, counted from 1" }),
    status: z.enum(COMMIT_STATES),
    context: z.string().openapi({ description: "The check that reports the status" }),
    description: z.string(),
    target_url: z.string(),
    url: Url,
    creator: User.nullable().openapi({ description: "Null if the account was deleted" }),
    created_at: Time,
    updated_at: Time,
  })
  .openapi("CommitStatus");

export const CombinedStatus = z
  .object({
    state: z.enum(["", "failure", "pending", "success"]).openapi({
      description:
        "`failure` if any check failed, `success` if all succeeded; empty if there are no statuses",
    }),
    sha: z.string(),
    statuses: z.array(CommitStatus).nullable().openapi({
      description: "The latest status of each context, newest first; null if there are none",
    }),
    total_count: Int64,
    repository: Repository,
    commit_url: Url,
    url: Url,
  })
  .openapi("CombinedStatus");

/** The combined state of a commit's statuses; "" if there are none. */
export type CombinedState = z.infer<typeof CombinedStatus>["state"];

/** The latest status of each context of a commit, as a list of commits shows them. */
export interface StatusSummary {
  readonly state: CombinedState;
  /** How many contexts there are, and how many of them neither failed nor are pending. */
  readonly total: number;
  readonly passed: number;
}

/** A status with the account that created it. */
export interface StatusEntry {
  status: CommitStatusRow;
  creator: UserRow | undefined;
}

export function toCommitStatus(
  repo: RepositoryContext,
  { status, creator }: StatusEntry,
  viewer: Viewer,
): z.infer<typeof CommitStatus> {
  const createdAt = formatTime(status.createdAt);
  return {
    id: status.number,
    status: status.state,
    context: status.context,
    description: status.description,
    target_url: status.targetUrl,
    url: `${apiUrlOf(repo, viewer)}/statuses/${status.commitOid}`,
    creator: creator ? toUser(creator, viewer) : null,
    created_at: createdAt,
    updated_at: createdAt,
  };
}

/** The combined status of a commit. */
export interface CombinedEntry {
  commitOid: Oid;
  state: CombinedState;
  /** A page of the latest statuses of each context. */
  items: readonly StatusEntry[];
  total: number;
}

export function toCombinedStatus(
  repo: RepositoryContext,
  { commitOid, state, items, total }: CombinedEntry,
  viewer: Viewer,
): z.infer<typeof CombinedStatus> {
  const url = apiUrlOf(repo, viewer);
  return {
    state,
    sha: commitOid,
    statuses: total === 0 ? null : items.map((item) => toCommitStatus(repo, item, viewer)),
    total_count: total,
    repository: toRepository(repo, viewer),
    commit_url: objectUrlOf(repo, "commit", commitOid, viewer),
    url: `${url}/commits/${commitOid}/status`,
  };
}
