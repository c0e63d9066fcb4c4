/** The orders of lists and searches of issues, by the words of the query parameter `sort`. */
export const ISSUE_SORTS = [
  "newest",
  "oldest",
  "recentupdate",
  "leastupdate",
  "mostcomment",
  "leastcomment",
  "nearduedate",
  "farduedate",
  "recentclose",
] as const;
export type IssueSort = (typeof ISSUE_SORTS)[number];

/** The parts of an issue that words are searched in; a comment is a document of its own. */
export const SEARCHED_PARTS = ["title", "body", "comment"] as const;
export type SearchedPart = (typeof SEARCHED_PARTS)[number];

/** What a user has to do with an issue. */
export const PERSON_ROLES = [
  "poster",
  "assignee",
  "mentioned",
  /**
   * Asked for a review of a pull request, as a user or in a team, and no approval or rejection
   * since.
   */
  "review_requested",
  /** Submitted a review of a pull request. */
  "reviewed",
] as const;
export type PersonRole = (typeof PERSON_ROLES)[number];

/** A user by whom a list is filtered. */
export interface PersonFilter {
  readonly role: PersonRole;
  readonly name: string;
}

/** What pull requests only are filtered by; undefined where it makes no difference. */
export interface PullFilter {
  /** Branches. */
  readonly base?: string | undefined;
  readonly head?: string | undefined;
  readonly isMerged?: boolean | undefined;
  readonly isDraft?: boolean | undefined;
}

/** What a list or a search of issues is filtered by. */
export interface IssueFilter {
  /** Undefined for open and closed ones. */
  readonly isClosed: boolean | undefined;
  /** Undefined for issues and pull requests. */
  readonly isPull: boolean | undefined;
  /** Words and phrases that one document has all of. */
  readonly words: readonly string[];
  /** The parts in which they are searched; empty for all. */
  readonly parts: readonly SearchedPart[];
  /** Names of labels; those that do not exist are ignored. */
  readonly labels: readonly string[];
  /** Names of labels that an issue has all of, also where none exists. */
  readonly requiredLabels: readonly string[];
  /** Names of labels that an issue has none of. */
  readonly excludedLabels: readonly string[];
  /**
   * Titles of milestones, or ids; an issue has one of them. Those that do not exist are ignored.
   */
  readonly milestones: readonly string[];
  /** Titles of milestones that an issue has, also where none exists. */
  readonly requiredMilestones: readonly string[];
  readonly people: readonly PersonFilter[];
  /** What an issue has nothing of. */
  readonly without: readonly Missing[];
  /** Bounds of the last update, in milliseconds; both are part of the range. */
  readonly since: number | undefined;
  readonly before: number | undefined;
  readonly sort: IssueSort;
  readonly pull?: PullFilter | undefined;
}

/** What `no:` asks for the absence of. */
export const MISSING = ["label", "milestone", "assignee"] as const;
export type Missing = (typeof MISSING)[number];
