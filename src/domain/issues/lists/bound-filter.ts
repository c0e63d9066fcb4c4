import type { Params } from "../../../db/prepared.ts";
import {
  type IssueFilter,
  MISSING,
  type Missing,
  PERSON_ROLES,
  type PersonFilter,
  type PersonRole,
} from "./issue-query.ts";
import { hasText, searchTextOf } from "./text-match.ts";

// Filters as arguments of prepared statements. Parts that a filter does not have are absent. The
// shape of a statement depends on the present parts, and for some names on whether there is one or
// several. It never depends on their number or their values.

/**
 * Names that an issue must have all of. For a single one the SQL is simpler, and an index can imply
 * it.
 */
interface RequiredNames {
  readonly isOne: boolean;
  readonly all: readonly string[];
}

/** The names of users with the same role in an issue, in lower case. */
interface People {
  readonly first: string;
  /** All of them; undefined if the first is the only one. */
  readonly all: readonly string[] | undefined;
}

/** The filter that lists and searches have in common. */
export interface BoundFilter {
  readonly isClosed: boolean | undefined;
  readonly isPull: boolean | undefined;
  /** The words, as `searchTextOf` returns them. */
  readonly text: string | undefined;
  readonly requiredLabels: RequiredNames | undefined;
  readonly excludedLabels: readonly string[] | undefined;
  readonly requiredMilestone: string | undefined;
  readonly people: { readonly [R in PersonRole]?: People };
  readonly without: { readonly [M in Missing]?: true };
  readonly since: number | undefined;
  readonly before: number | undefined;
  readonly base: string | undefined;
  readonly head: string | undefined;
  readonly isMerged: boolean | undefined;
  readonly isDraft: boolean | undefined;
}

/** The filter of a list of one repository. */
export interface ListFilter extends BoundFilter {
  /** Labels that count if they exist. None of them is required. */
  readonly labels: readonly string[] | undefined;
  /** The names of all labels that an issue must have: `labels` and `requiredLabels`. */
  readonly names: RequiredNames | undefined;
  /** Milestones that count if they exist; a number is an id unless it is a title. */
  readonly milestones:
    | { readonly titles: readonly string[]; readonly ids: readonly number[] }
    | undefined;
  /**
   * Labels that an issue has all of, also where none exists, by their positions: the index of each
   * is considered.
   */
  readonly labelIds: Readonly<Record<string, number>>;
  /** More of them, which are a condition only. */
  readonly moreLabelIds: readonly number[] | undefined;
  /** The milestone that an issue has, also where none exists. */
  readonly milestoneId: number | undefined;
}

/** The filter of a search. */
export interface SearchFilter extends BoundFilter {
  /** Labels of which an issue has one, if the caller sees any of them; milestones likewise. */
  readonly labels: readonly string[] | undefined;
  readonly milestones: readonly string[] | undefined;
}

/** The parameters of statements for such filters. */
export type FilterParams = Params<BoundFilter>;
export type ListParams = Params<ListFilter>;
export type SearchParams = Params<SearchFilter>;

/** The filter of a list of all issues. */
export const NO_FILTER: ListFilter = {
  isClosed: undefined,
  isPull: undefined,
  text: undefined,
  requiredLabels: undefined,
  excludedLabels: undefined,
  requiredMilestone: undefined,
  people: {},
  without: {},
  since: undefined,
  before: undefined,
  base: undefined,
  head: undefined,
  isMerged: undefined,
  isDraft: undefined,
  labels: undefined,
  names: undefined,
  milestones: undefined,
  labelIds: {},
  moreLabelIds: undefined,
  milestoneId: undefined,
};

/** Labels given by their ids whose indexes are considered. */
const LABEL_SOURCES_MAX = 4;

/** The parts of a list's filter for ids of labels. */
export function bindLabelIds(
  ids: readonly number[],
): Pick<ListFilter, "labelIds" | "moreLabelIds"> {
  const all = [...new Set(ids)];
  const more = all.slice(LABEL_SOURCES_MAX);
  return {
    labelIds: Object.fromEntries(all.slice(0, LABEL_SOURCES_MAX).entries()),
    moreLabelIds: more.length > 0 ? more : undefined,
  };
}

/** The parts of a filter for one user. */
export const bindPerson = (role: PersonRole, name: string): BoundFilter["people"] => ({
  [role]: { first: name.toLowerCase(), all: undefined },
});

/** @returns Undefined if nothing can match. */
export function bindListFilter(filter: IssueFilter): ListFilter | undefined {
  const bound = bind(filter);
  if (!bound) return undefined;
  const required = bound.requiredLabels?.all ?? [];
  // A required one exists on each issue that is listed.
  const labels = distinct(filter.labels).filter((name) => !required.includes(name));
  const titles = distinct(filter.milestones);
  const ids = titles.filter((title) => /^\d{1,15}$/.test(title)).map(Number);
  return {
    ...bound,
    labels: unlessEmpty(labels),
    names: requiredNames([...labels, ...required]),
    milestones: titles.length > 0 ? { titles, ids } : undefined,
    labelIds: {},
    moreLabelIds: undefined,
    milestoneId: filter.milestoneId,
  };
}

/** @returns Undefined if nothing can match. */
export function bindSearchFilter(filter: IssueFilter): SearchFilter | undefined {
  const bound = bind(filter);
  return (
    bound && {
      ...bound,
      labels: unlessEmpty(filter.labels),
      milestones: unlessEmpty(filter.milestones),
    }
  );
}

function bind(filter: IssueFilter): BoundFilter | undefined {
  const { isClosed, isPull, since, before, pull = {} } = filter;
  const [requiredMilestone, ...more] = distinct(filter.requiredMilestones);
  // No issue has two.
  if (more.length > 0) return undefined;
  return {
    isClosed,
    isPull,
    text: hasText(filter) ? searchTextOf(filter) : undefined,
    requiredLabels: requiredNames(distinct(filter.requiredLabels)),
    excludedLabels: unlessEmpty(filter.excludedLabels),
    requiredMilestone,
    people: byRole(filter.people),
    without: Object.fromEntries(
      MISSING.filter((each) => filter.without.includes(each)).map((each) => [each, true as const]),
    ),
    since,
    before,
    base: pull.base,
    head: pull.head,
    isMerged: pull.isMerged,
    isDraft: pull.isDraft,
  };
}

const distinct = (names: readonly string[]): string[] => [...new Set(names)];

const unlessEmpty = (names: readonly string[]): readonly string[] | undefined =>
  names.length > 0 ? names : undefined;

const requiredNames = (all: readonly string[]): RequiredNames | undefined =>
  all.length > 0 ? { isOne: all.length === 1, all } : undefined;

/**
 * The users of each role, in the order of roles, so that the order of a query does not make another
 * shape.
 */
function byRole(people: readonly PersonFilter[]): BoundFilter["people"] {
  const roles = PERSON_ROLES.flatMap((role) => {
    const named = people.filter((each) => each.role === role);
    const names = distinct(named.map(({ name }) => name.toLowerCase()));
    const [first] = names;
    if (first === undefined) return [];
    return [[role, { first, all: names.length > 1 ? names : undefined }] as const];
  });
  return Object.fromEntries(roles);
}
