import type { Oid } from "../../../git/oid.ts";
import { type Repository, toRepository } from "../../../shapes/repos/repository.ts";
import type { User } from "../../../shapes/users/user.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toSender } from "./receiver.ts";

/** `Issue` is the JSON form of an issue. */
export interface IssuePayload<Issue> {
  action: "closed" | "reopened";
  number: number;
  issue: Issue;
  repository: Repository;
  sender: User;
  /** The commit whose message closed or reopened the issue; empty if none did. */
  commit_id: Oid | "";
}

/** The payload for an issue that was closed or reopened, by a user or by a commit. */
export function toIssuePayload<Issue extends { number: number }>(
  { repo, sender, viewer }: PayloadContext,
  action: IssuePayload<Issue>["action"],
  issue: Issue,
  commitOid: Oid | undefined,
): IssuePayload<Issue> {
  return {
    action,
    number: issue.number,
    issue,
    repository: toRepository(repo, viewer),
    sender: toSender(sender, viewer),
    commit_id: commitOid ?? "",
  };
}
