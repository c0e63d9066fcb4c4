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
import { apiUrlOf } from "../urls.ts";
import { toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

const Url = z.string().openapi({ format: "uri" });

export const CommitStatus = z
  .object({
    id: Int64.openapi({ description: "Of all statuses of the commit, from 1 in their order" }),
    status: z.enum(COMMIT_STATES),
    context: z.string().openapi({ description: "Which check says so" }),
    description: z.string(),
    target_url: z.string(),
    url: Url,
    creator: User.nullable().openapi({ description: "Null if the account is gone" }),
    created_at: Time,
    updated_at: Time,
  })
  .openapi("CommitStatus");

export const CombinedStatus = z
  .object({
    state: z.enum(["", "failure", "pending", "success"]).openapi({
      description: "Failure if anything failed, success if all went well; empty without a status",
    }),
    sha: z.string(),
    statuses: z
      .array(CommitStatus)
      .nullable()
      .openapi({ description: "The latest of each context, the newest first; null without one" }),
    total_count: Int64,
    repository: Repository,
    commit_url: Url,
    url: Url,
  })
  .openapi("CombinedStatus");

/** What all that was said of a commit comes to; "" where nothing was. */
export type CombinedState = z.infer<typeof CombinedStatus>["state"];

/** A status with the account that gave it. */
export interface StatusEntry {
  status: CommitStatusRow;
  creator: UserRow | undefined;
}

export function toCommitStatus(
  where: RepositoryContext,
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
    url: `${apiUrlOf(where, viewer)}/statuses/${status.commitOid}`,
    creator: creator ? toUser(creator, viewer) : null,
    created_at: createdAt,
    updated_at: createdAt,
  };
}

/** What counts of the statuses of a commit. */
export interface CombinedEntry {
  commitOid: Oid;
  state: CombinedState;
  /** A page of the latest of each context. */
  items: readonly StatusEntry[];
  total: number;
}

export function toCombinedStatus(
  where: RepositoryContext,
  { commitOid, state, items, total }: CombinedEntry,
  viewer: Viewer,
): z.infer<typeof CombinedStatus> {
  const commitUrl = `${apiUrlOf(where, viewer)}/commits/${commitOid}`;
  return {
    state,
    sha: commitOid,
    statuses: total === 0 ? null : items.map((item) => toCommitStatus(where, item, viewer)),
    total_count: total,
    repository: toRepository(where, viewer),
    commit_url: commitUrl,
    url: `${commitUrl}/status`,
  };
}
