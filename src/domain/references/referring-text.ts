import type { Issue, RefAction } from "../../db/schema/index.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/** An issue or pull request with the text of its title and body, or one of its comments. */
export interface ReferringText {
  /** With the permission of the caller. */
  readonly repo: RepositoryContext;
  readonly issue: Issue;
  /** Undefined for the text of the issue itself. */
  readonly commentId: number | undefined;
}

/** What an entry that tells of a text's reference is. */
export type RefKind = "comment_ref" | "pull_ref" | "issue_ref";

/** A reference that is to be told, and what it does. */
export interface WantedReference {
  readonly repoId: number;
  readonly issueId: number;
  readonly number: number;
  readonly action: RefAction;
}

/** An entry that tells of a reference, with the present names of the issue to which it was made. */
export interface Told {
  readonly id: number;
  readonly issueId: number;
  readonly action: RefAction;
  readonly number: number;
  readonly owner: string;
  readonly name: string;
}
