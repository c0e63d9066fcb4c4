import type { ForgeService, MergeKind } from "../db/schema/index.ts";

/** An account of the other side. */
export interface ForeignUser {
  /** Its id there; 0 if it has none any more. */
  readonly id: number;
  /** The name by which it signs in there. */
  readonly name: string;
}

/** A project without its parts. */
export interface ForeignProject {
  readonly description: string;
  readonly website: string;
  readonly topics: readonly string[];
  /** By its short name; "" if it has none. */
  readonly defaultBranch: string;
  readonly isPrivate: boolean;
  readonly isArchived: boolean;
  /** The address for fetches; checked like every address from a remote. */
  readonly cloneUrl: string;
  /** The address of the repository's page. */
  readonly htmlUrl: string;
  readonly tracksIssues: boolean;
  readonly takesPulls: boolean;
  /**
   * How the reader numbers issues and pull requests, in its own form, if the forge counts them
   * separately. A reader that is opened with the stored value, even years later, assigns the same
   * numbers.
   */
  readonly numbering?: string;
}

export interface ForeignLabel {
  readonly foreignId: string;
  readonly name: string;
  /** Six hex digits. */
  readonly color: string;
  readonly description: string;
  /** Whether issues have at most one label of its scope. */
  readonly isExclusive: boolean;
  readonly isArchived: boolean;
}

export interface ForeignMilestone {
  readonly foreignId: string;
  readonly title: string;
  readonly description: string;
  /** In milliseconds, like every time; null for none. */
  readonly deadlineAt: number | null;
  readonly isClosed: boolean;
  readonly closedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface ForeignReaction {
  readonly user: ForeignUser;
  /**
   * In the API's words here: `+1`, `-1`, `laugh`, `hooray`, `confused`, `heart`, `rocket`, `eyes`.
   */
  readonly content: string;
}

/** The fields that issues and pull requests share. */
interface ForeignIssueFields {
  readonly foreignId: string;
  /**
   * Kept here. Issues and pull requests share one sequence; where the forge has two, its reader
   * makes one.
   */
  readonly number: number;
  readonly poster: ForeignUser;
  readonly title: string;
  /**
   * Markdown. Absolute and `#` references are the forge's own; a reader changes only what would
   * lead elsewhere here.
   */
  readonly body: string;
  /** The full name of a branch or tag; "" for none. */
  readonly ref: string;
  /** The `foreignId`s of its labels and milestone; names where the forge has no ids. */
  readonly labelIds: readonly string[];
  readonly milestoneId: string | null;
  readonly assignees: readonly ForeignUser[];
  readonly reactions: readonly ForeignReaction[];
  readonly isLocked: boolean;
  readonly isClosed: boolean;
  readonly closedAt: number | null;
  readonly deadlineAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /**
   * Its position among the pinned ones, from 1, and the estimated time; only exports of this
   * service have them.
   */
  readonly pinOrder?: number | undefined;
  readonly timeEstimateSeconds?: number | undefined;
}

export interface ForeignIssue extends ForeignIssueFields {
  readonly kind: "issue";
}

export interface ForeignPull extends ForeignIssueFields {
  readonly kind: "pull";
  /** The reader adds `WIP: ` to the title of a draft, which marks drafts here. */
  readonly head: ForeignBranch;
  readonly base: ForeignBranch;
  /**
   * The ref of the remote from which its head is fetched, such as `refs/pull/7/head`; "" if there
   * is none.
   */
  readonly headRef: string;
  /** "" if unknown. */
  readonly mergeBaseOid: string;
  readonly allowMaintainerEdit: boolean;
  readonly mergedAt: number | null;
  readonly merger: ForeignUser | null;
  /** The commit that it became in the base; "" if it is not merged. */
  readonly mergeCommitOid: string;
  /**
   * How it was merged, if that is known; `base.oid` is the value of the base before the merge. Only
   * exports of this service have it.
   */
  readonly mergeKind?: MergeKind | undefined;
}

/** One side of a pull request. */
interface ForeignBranch {
  /** By its short name. */
  readonly branch: string;
  readonly oid: string;
  /**
   * `owner/name` of its repository there, or `owner/` if only that is known; "" if that is gone.
   */
  readonly repository: string;
}

export interface ForeignComment {
  readonly kind: "comment";
  readonly foreignId: string;
  /** The number here of the issue or pull request that it is about. */
  readonly number: number;
  readonly poster: ForeignUser;
  readonly body: string;
  readonly reactions: readonly ForeignReaction[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface ForeignReview {
  readonly foreignId: string;
  /** The number here of its pull request. */
  readonly number: number;
  readonly reviewer: ForeignUser;
  readonly state: "approved" | "request_changes" | "comment" | "request_review";
  readonly isDismissed: boolean;
  readonly isOfficial: boolean;
  readonly body: string;
  /** The commit that was reviewed; "" if unknown. */
  readonly commitOid: string;
  readonly createdAt: number;
  /** When it was last changed, if that is known. */
  readonly updatedAt?: number | undefined;
  readonly comments: readonly ForeignCodeComment[];
}

/** A comment on a line of a pull request. */
export interface ForeignCodeComment {
  readonly foreignId: string;
  /** The `foreignId` of the comment that it answers; "" for the first one of a conversation. */
  readonly answersId: string;
  readonly poster: ForeignUser;
  readonly body: string;
  readonly path: string;
  /**
   * The line, from 1, in the file after the change, or before it if `isOnOldSide`; 0 if it is
   * outdated.
   */
  readonly line: number;
  readonly isOnOldSide: boolean;
  readonly commitOid: string;
  /** The lines of the diff around it, as the forge shows them; "" if unknown. */
  readonly hunk: string;
  readonly isResolved: boolean;
  readonly reactions: readonly ForeignReaction[];
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The full position; only exports of this service have it. */
  readonly place?: ForeignPlace | undefined;
}

/** Where a comment on code is, in full. */
interface ForeignPlace {
  /**
   * Whether the line was changed or removed since: then the comment's `line` is that of its
   * `commitOid`.
   */
  readonly isOutdated: boolean;
  /** The first of several lines; the line itself for one. */
  readonly startLine: number;
  /** The line and the commit when it was written. */
  readonly originalLine: number;
  readonly originalCommitOid: string;
  /** When its conversation was resolved; null if it was not. */
  readonly resolvedAt: number | null;
}

export interface ForeignRelease {
  readonly foreignId: string;
  readonly tagName: string;
  /** The branch or commit of a tag that is not there yet. */
  readonly target: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
  readonly isPrerelease: boolean;
  readonly publisher: ForeignUser;
  readonly createdAt: number;
  /** When it was published, null for never; undefined if the forge has no such time. */
  readonly publishedAt?: number | null | undefined;
  readonly assets: readonly ForeignAsset[];
}

export interface ForeignAsset {
  readonly foreignId: string;
  readonly name: string;
  /** In bytes; null if unknown. */
  readonly sizeBytes: number | null;
  readonly downloadCount: number;
  readonly createdAt: number;
  /** The address for downloads; checked like every address from a remote. */
  readonly url: string;
}

/** The kinds of items that a forge lists in pages, each after those that it refers to. */
export interface ForeignItems {
  labels: ForeignLabel;
  milestones: ForeignMilestone;
  issues: ForeignIssue;
  pulls: ForeignPull;
  /** The comments of issues and pull requests, except comments on code. */
  comments: ForeignComment;
  reviews: ForeignReview;
  releases: ForeignRelease;
}
export type ForeignKind = keyof ForeignItems;

/** A page of items. */
export interface ForeignPage<T> {
  /**
   * In the forge's order, which is stable while items are added: oldest first where the forge can.
   */
  readonly items: readonly T[];
  /** Where the next page begins, in the reader's own words; undefined after the last page. */
  readonly next: string | undefined;
  /** The number of items on all pages, if the forge states it. */
  readonly total?: number | undefined;
  /** A sentence for each item that the reader skips on purpose, for the notes of the import. */
  readonly leftOut?: readonly string[];
}

/** Limits a list to the items that an import needs. */
export interface ForeignFilter {
  /** Whether issues are imported, and pull requests. Comments of others are not requested. */
  readonly includesIssues: boolean;
  readonly includesPulls: boolean;
  /**
   * Only items that changed at this time or later, in milliseconds, if the forge supports it;
   * undefined for all.
   */
  readonly since?: number | undefined;
}

/**
 * Reads a project of a forge, page by page.
 *
 * Every method makes a bounded number of requests, some 30 at most, so that it fits into a step of
 * a job.
 *
 * @throws RemoteFailure for everything that is wrong with the other side: `rate_limited` with the
 * time when the limit ends, `unauthorized`, `not_found`, `protocol` for an answer that is not what
 * the forge's API documents.
 */
export interface ForgeReader {
  readonly service: ForgeService | "bundle";
  readProject(): Promise<ForeignProject>;
  /** @param cursor What the page before returned as `next`; undefined for the first page. */
  readPage<K extends ForeignKind>(
    kind: K,
    cursor: string | undefined,
    filter: ForeignFilter,
  ): Promise<ForeignPage<ForeignItems[K]>>;
  /**
   * Headers with which an asset, or a large file, of the project is downloaded from a host of the
   * forge.
   */
  headersFor(url: string): Readonly<Record<string, string>>;
}
