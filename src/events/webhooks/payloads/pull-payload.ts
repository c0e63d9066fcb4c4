import type { Oid } from "../../../git/oid.ts";
import type { DequeueReason, Team as TeamRow, User as UserRow } from "../../../db/schema/index.ts";
import { toTeam } from "../../../shapes/orgs/team.ts";
import {
  type PullContext,
  type PullRequest,
  toPullRequest,
} from "../../../shapes/pulls/pull-request.ts";
import { toRepository } from "../../../shapes/repos/repository.ts";
import { toUser } from "../../../shapes/users/user.ts";
import type { Changes } from "../../../shapes/webhooks/issue-payloads.ts";
import type { PullAction, PullPayload } from "../../../shapes/webhooks/pull-payload.ts";
import { boundChanges, boundText } from "./bounded.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toSender } from "./receiver.ts";

/** The pull request with a text of bounded size. */
export function toPayloadPull({ repo, viewer }: PayloadContext, pull: PullContext): PullRequest {
  const { row } = repo;
  // A head of the repository is shown as the repository is, with the permission of its hooks.
  const headRepo = pull.headRepo?.row.id === row.id ? repo : pull.headRepo;
  const payload = toPullRequest({ ...pull, repo, headRepo }, viewer);
  return { ...payload, body: boundText(payload.body) };
}

/** The fields that only some of the payloads have. */
interface PullDetails {
  readonly changes?: Changes;
  /** Why it left the merge queue. */
  readonly reason?: DequeueReason | undefined;
  /** The commit whose message closed or reopened it; "" if none did. */
  readonly commitOid?: Oid | "";
  /** The requested reviewer, or the author of the review; undefined also if it was deleted. */
  readonly reviewer?: UserRow | undefined;
  readonly team?: TeamRow | undefined;
  readonly review?: PullPayload["review"];
}

/** The payload for a change of a pull request, or for a review. */
export const toPullPayload = (
  context: PayloadContext,
  action: PullAction,
  pull: PullContext,
  { changes, reason, commitOid = "", reviewer, team, review }: PullDetails = {},
): PullPayload => ({
  action,
  number: pull.row.number,
  ...(changes && { changes: boundChanges(changes) }),
  ...(reason && { reason }),
  pull_request: toPayloadPull(context, pull),
  requested_reviewer: reviewer ? toUser(reviewer, context.viewer) : null,
  ...(team && { requested_team: toTeam(team, null, context.viewer) }),
  repository: toRepository(context.repo, context.viewer),
  sender: toSender(context.sender, context.viewer),
  commit_id: commitOid,
  review: review ? { ...review, content: boundText(review.content) } : null,
});
