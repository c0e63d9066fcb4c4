import { maskCode } from "../../../render/mask-code.ts";
import { readTimeLog } from "./read-time-log.ts";

/** A reference to an issue or pull request. */
export interface ReferredIssue {
  /** In lower case; undefined for the repository of the text. */
  readonly repo: { readonly owner: string; readonly name: string } | undefined;
  readonly number: number;
  /** The meaning of the keyword in front of it. */
  readonly action: "none" | "closes" | "reopens";
  /** The time beside it, like `@1h30m`. */
  readonly seconds: number;
}

/** The references of a text, each once, in the order of the text. */
export interface TextReferences {
  readonly issues: readonly ReferredIssue[];
  /** The names of mentioned accounts, in lower case. */
  readonly users: readonly string[];
  readonly teams: readonly { readonly org: string; readonly team: string }[];
}

/**
 * Maximum issues, users and teams each that one text refers to; the rest counts as plain text.
 */
export const REFERENCES_MAX = 100;

const KEYWORDS: ReadonlyMap<string, "closes" | "reopens"> = new Map([
  ...["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"].map(
    (word) => [word, "closes"] as const,
  ),
  ...["reopen", "reopens", "reopened"].map((word) => [word, "reopens"] as const),
]);

/**
 * Characters in front of a reference in its word: opening brackets, quotation marks, emphasis.
 */
const OPENING = /^[([{'"*_~<]+/;
/**
 * The end of a reference within its word: closing brackets, quotation marks, emphasis, or final
 * punctuation.
 */
const ENDING = /^(?:$|[)\]}'"*_~>]|[:;,.?!]+[)\]}'"*_~>]*$)/;
const NAME = "[\\w.-]{1,100}";
const ISSUE = new RegExp(`^(?:(${NAME})/(${NAME}))?[#!](\\d{1,10})(?!\\d)`);
const MENTION = new RegExp(`^@(${NAME}?)(?:/(${NAME}?))?(?=[.]*(?:$|[^\\w./-]))`);

/**
 * Finds references to issues, users and teams in a text: `#12`, `!12`, `owner/repo#12`, URLs of
 * this service, `@user`, `@org/team`; with keywords like `closes`, and with times like `@1h30m`,
 * which belong to the reference before them, or to the first one.
 *
 * Cost: linear in the length of the text.
 *
 * @param options.isMarkdown Whether to skip code and comments; messages of commits are plain text.
 * @param options.rootUrls   Base URLs of this service, without a trailing slash.
 */
export function findReferences(
  text: string,
  options: { readonly isMarkdown: boolean; readonly rootUrls: readonly string[] },
): TextReferences {
  const searched = options.isMarkdown ? maskCode(text) : text;
  const issues = new Map<string, ReferredIssue>();
  const users = new Set<string>();
  const teams = new Map<string, { org: string; team: string }>();
  let timeLog = 0;
  let lastKey: string | undefined;
  let keyword: ReferredIssue["action"] = "none";
  let wordEnd = -1;

  for (const { 0: whole, index } of searched.matchAll(/\S+/g)) {
    const isSameLine = wordEnd !== -1 && !searched.slice(wordEnd, index).includes("\n");
    const action = isSameLine ? keyword : "none";
    wordEnd = index + whole.length;
    const word = whole.replace(OPENING, "");
    keyword = KEYWORDS.get(word.replace(/:$/, "").toLowerCase()) ?? "none";

    const found = readIssue(word) ?? readUrl(whole, options.rootUrls);
    if (found) {
      const key = [found.repo?.owner, found.repo?.name, found.number, action].join("/");
      const isNew = !issues.has(key) && issues.size < REFERENCES_MAX;
      if (isNew) issues.set(key, { ...found, action, seconds: timeLog });
      if (isNew) timeLog = 0;
      lastKey = issues.has(key) ? key : lastKey;
      continue;
    }
    if (!word.startsWith("@")) continue;
    const seconds = readTimeLog(word);
    if (seconds > 0) {
      const last = lastKey === undefined ? undefined : issues.get(lastKey);
      if (last && lastKey !== undefined)
        issues.set(lastKey, { ...last, seconds: last.seconds || seconds });
      else timeLog ||= seconds;
    }
    const [, name = "", team] = MENTION.exec(word.toLowerCase()) ?? [];
    if (name === "") continue;
    if (team === undefined) {
      if (users.size < REFERENCES_MAX) users.add(name);
    } else if (teams.size < REFERENCES_MAX) teams.set(`${name}/${team}`, { org: name, team });
  }
  return { issues: [...issues.values()], users: [...users], teams: [...teams.values()] };
}

type Found = Pick<ReferredIssue, "repo" | "number">;

function readIssue(word: string): Found | undefined {
  const match = ISSUE.exec(word);
  if (!match) return undefined;
  const rest = word.slice(match[0].length);
  // The text of a link: its URL is the reference.
  if (rest.startsWith("](") || !ENDING.test(rest)) return undefined;
  return toFound(match[1], match[2], match[3]);
}

const URL_PATH = new RegExp(`^/(${NAME})/(${NAME})/(?:issues|pulls)/(\\d{1,10})(?!\\d)(?![/\\w])`);
/** Characters in front of a URL in its word. */
const URL_OPENING = /^$|[([{'"*_~<|=]$/;

function readUrl(word: string, rootUrls: readonly string[]): Found | undefined {
  for (const rootUrl of rootUrls) {
    const at = rootUrl === "" ? -1 : word.indexOf(`${rootUrl}/`);
    if (at === -1 || !URL_OPENING.test(word.slice(0, at).slice(-1))) continue;
    const match = URL_PATH.exec(word.slice(at + rootUrl.length));
    if (match) return toFound(match[1], match[2], match[3]);
  }
  return undefined;
}

function toFound(
  owner: string | undefined,
  name: string | undefined,
  digits = "",
): Found | undefined {
  const number = Number(digits);
  if (number === 0) return undefined;
  const repo =
    owner === undefined || name === undefined
      ? undefined
      : { owner: owner.toLowerCase(), name: name.toLowerCase() };
  return { repo, number };
}
