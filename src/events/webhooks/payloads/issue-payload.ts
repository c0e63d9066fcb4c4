import type { Oid } from "../../../git/oid.ts";
import { type Repository, toRepository } from "../../../shapes/repos/repository.ts";
import type { User } from "../../../shapes/users/user.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toSender } from "./receiver.ts";

/** `Issue` is its JSON form. */
export interface IssuePayload<Issue> {
  action: "closed" | "reopened";
  number: number;
  issue: Issue;
  repository: Repository;
  sender: User;
  /** The commit whose message did it; empty where no commit did. */
  commit_id: Oid | "";
}

/** An issue that is closed or open again, by somebody or by a commit. */
export function toIssuePayload<Issue extends { number: number }>(
  { where, sender, viewer }: PayloadContext,
  action: IssuePayload<Issue>["action"],
  issue: Issue,
  commitOid: Oid | undefined,
): IssuePayload<Issue> {
  return {
    action,
    number: issue.number,
    issue,
    repository: toRepository(where, viewer),
    sender: toSender(sender, viewer),
    commit_id: commitOid ?? "",
  };
}
