import {
  ISSUE_SORTS,
  type IssueFilter,
  MISSING,
  type PersonRole,
  type PullFilter,
  type SearchedPart,
} from "./issue-query.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] ? U[] : T[K] };

/** The filters of a typed query; `undefined` and empty lists for those that it does not have. */
export type TypedQuery = Mutable<
  Pick<
    IssueFilter,
    | "words"
    | "parts"
    | "requiredLabels"
    | "excludedLabels"
    | "requiredMilestones"
    | "people"
    | "without"
  >
> & {
  /** `all` for open and closed issues. */
  state: "open" | "closed" | "all" | undefined;
  isPull: boolean | undefined;
  pull: Mutable<PullFilter>;
  sort: IssueFilter["sort"] | undefined;
  /** Whether it consists of marks that the index has no words of, so that it finds nothing. */
  isUnfindable: boolean;
};

/** Maximum terms of a query that are read; the rest is ignored. */
const TERMS_MAX = 32;

/** A word has a letter or a digit: the index keeps nothing else. */
const WORD = /[\p{L}\p{N}\p{Co}]/u;

// A minus, a key, and a text that may be quoted.
const TERM = /(-)?(?:(\w[\w-]*):)?(?:"([^"]*)(?:"|$)|(\S+))/y;

/**
 * Reads a query as people type it: words, quoted phrases, and terms such as `label:bug`,
 * `-label:"good first issue"`, `author:ada`, `is:open` or `sort:oldest`. A term that means nothing
 * here is searched as words.
 *
 * @param me The name of the caller, whom `@me` stands for.
 */
export function parseQuery(text: string, me?: string): TypedQuery {
  const query: TypedQuery = {
    words: [],
    parts: [],
    requiredLabels: [],
    excludedLabels: [],
    requiredMilestones: [],
    people: [],
    without: [],
    state: undefined,
    isPull: undefined,
    pull: {},
    sort: undefined,
    isUnfindable: false,
  };
  for (const { isExcluded, key, value, source } of termsOf(text)) {
    const read = key === undefined || value === "" ? undefined : READERS.get(key.toLowerCase());
    if (read?.(query, { value, isExcluded, me })) continue;
    const word = key === undefined ? value : source.replaceAll('"', " ");
    if (WORD.test(word)) query.words.push(word);
    else query.isUnfindable = true;
  }
  query.isUnfindable &&= query.words.length === 0;
  return query;
}

interface Term {
  readonly isExcluded: boolean;
  readonly key: string | undefined;
  readonly value: string;
  /** The term as it was typed. */
  readonly source: string;
}

function* termsOf(text: string): Generator<Term> {
  let at = 0;
  for (let count = 0; count < TERMS_MAX; count += 1) {
    while (/\s/.test(text.charAt(at))) at += 1;
    TERM.lastIndex = at;
    const match = TERM.exec(text);
    if (!match) return;
    const [source, minus, key, quoted, bare = ""] = match;
    at = TERM.lastIndex;
    yield { isExcluded: minus !== undefined, key, value: quoted ?? bare, source };
  }
}

interface Value {
  readonly value: string;
  readonly isExcluded: boolean;
  readonly me: string | undefined;
}

/** Takes a term into the query; returns whether it means anything. */
type Reader = (query: TypedQuery, value: Value) => boolean;

const person =
  (role: PersonRole): Reader =>
  (query, { value, isExcluded, me }) => {
    if (isExcluded) return false;
    const name = value.replace(/^@/, "");
    query.people.push({ role, name: name === "me" && value !== "me" ? (me ?? "") : name });
    return true;
  };

const state: Reader = (query, { value, isExcluded }) => {
  const word = value.toLowerCase();
  if (isExcluded || !isOneOf(["open", "closed", "all"] as const, word)) return false;
  query.state = word;
  return true;
};

const type: Reader = (query, { value, isExcluded }) => {
  const isPull = TYPES.get(value.toLowerCase());
  if (isExcluded || isPull === undefined) return false;
  query.isPull = isPull;
  return true;
};

/** `is:merged` and `is:draft`, which only pull requests are. */
const pullState: Reader = (query, { value, isExcluded }) => {
  const word = value.toLowerCase();
  if (word === "merged" && !isExcluded) {
    // A merged one is closed.
    query.state = "closed";
    query.pull.isMerged = true;
  } else if (word === "merged") query.pull.isMerged = false;
  else if (word === "draft") query.pull.isDraft = !isExcluded;
  else return false;
  query.isPull = true;
  return true;
};

const branch =
  (side: "base" | "head"): Reader =>
  (query, { value, isExcluded }) => {
    if (isExcluded) return false;
    query.pull[side] = value;
    query.isPull = true;
    return true;
  };

const TYPES = new Map([
  ["issue", false],
  ["issues", false],
  ["pr", true],
  ["pull", true],
  ["pulls", true],
]);

const PARTS = new Map<string, SearchedPart>([
  ["title", "title"],
  ["body", "body"],
  ["comment", "comment"],
  ["comments", "comment"],
]);

const label: Reader = (query, { value, isExcluded }) => {
  (isExcluded ? query.excludedLabels : query.requiredLabels).push(value);
  return true;
};

const milestone: Reader = (query, { value, isExcluded }) => {
  if (!isExcluded) query.requiredMilestones.push(value);
  return !isExcluded;
};

const parts: Reader = (query, { value, isExcluded }) => {
  const named = value
    .toLowerCase()
    .split(",")
    .map((part) => PARTS.get(part));
  if (isExcluded || !named.every((part) => part !== undefined)) return false;
  query.parts.push(...named);
  return true;
};

const without: Reader = (query, { value, isExcluded }) => {
  const word = value.toLowerCase();
  if (isExcluded || !isOneOf(MISSING, word)) return false;
  query.without.push(word);
  return true;
};

const sort: Reader = (query, { value, isExcluded }) => {
  const word = value.toLowerCase();
  if (isExcluded || !isOneOf(ISSUE_SORTS, word)) return false;
  query.sort = word;
  return true;
};

const READERS = new Map<string, Reader>([
  ["label", label],
  ["milestone", milestone],
  ["author", person("poster")],
  ["assignee", person("assignee")],
  ["mentions", person("mentioned")],
  ["review-requested", person("review_requested")],
  ["reviewed-by", person("reviewed")],
  ["base", branch("base")],
  ["head", branch("head")],
  ["is", (query, value) => [state, type, pullState].some((read) => read(query, value))],
  ["state", state],
  ["type", type],
  ["in", parts],
  ["no", without],
  ["sort", sort],
]);

const isOneOf = <T extends string>(words: readonly T[], word: string): word is T =>
  (words as readonly string[]).includes(word);
