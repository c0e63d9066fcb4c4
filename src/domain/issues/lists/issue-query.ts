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

/** The roles that a user can have in an issue. */
export const PERSON_ROLES = [
  "poster",
  "assignee",
  "mentioned",
  /**
   * The user, or a team of theirs, is requested to review a pull request, and has not approved or
   * rejected it since.
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

/** Filters of pull requests only; undefined where there is none. */
export interface PullFilter {
  /** Branches. */
  readonly base?: string | undefined;
  readonly head?: string | undefined;
  readonly isMerged?: boolean | undefined;
  readonly isDraft?: boolean | undefined;
}

/** The filter of a list or a search of issues. */
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
  /** The milestone that an issue has. */
  readonly milestoneId?: number;
  readonly people: readonly PersonFilter[];
  /** Properties that an issue does not have. */
  readonly without: readonly Missing[];
  /** Bounds of the last update, in milliseconds; both are part of the range. */
  readonly since: number | undefined;
  readonly before: number | undefined;
  readonly sort: IssueSort;
  readonly pull?: PullFilter | undefined;
}

/** Properties that `no:` excludes. */
export const MISSING = ["label", "milestone", "assignee"] as const;
export type Missing = (typeof MISSING)[number];

/** A filter that matches every issue and pull request, newest first. */
export const ALL_ISSUES: IssueFilter = {
  isClosed: undefined,
  isPull: undefined,
  words: [],
  parts: [],
  labels: [],
  requiredLabels: [],
  excludedLabels: [],
  milestones: [],
  requiredMilestones: [],
  people: [],
  without: [],
  since: undefined,
  before: undefined,
  sort: "newest",
};
