import { maskCode } from "../../../render/mask-code.ts";
import { maskMarks } from "../../../render/mask-marks.ts";
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

const CLOSING = "close[sd]?|fix|fixes|fixed|resolve[sd]?";
const REOPENING = "reopen|reopens|reopened";
const SPACE = "[\\t\\n\\f\\r ]";
/**
 * A keyword in front of a reference: at the start, or after white space or an opening bracket; with
 * a colon or without; and one blank.
 *
 * @see Gitea's modules/references/references.go, makeKeywordsPat.
 */
const KEYWORD = new RegExp(`(?:^|${SPACE}|[([])(?:(${CLOSING})|(?:${REOPENING})):? $`, "i");
/** More than the length of a keyword with all around it. */
const KEYWORD_WINDOW = 20;
/** More than the length of the text of a link. */
const LINK_TEXT_WINDOW = 1000;
/** The text behind a reference with a keyword; only `#1` itself may stand in quotation marks. */
const END_OF_REPO = new RegExp(`^(?:$|${SPACE}|[)\\]]|[:;,.?!](?:$|${SPACE}))`);
const END_OF_NUMBER = new RegExp(`^['"]|${END_OF_REPO.source}`);

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
 * As in Gitea, no text of a link in Markdown refers to anything, and the keyword of a link is in
 * front of its text.
 *
 * Cost: linear in the length of the text.
 *
 * @param options.isMarkdown Whether to skip code, HTML and comments; messages of commits and titles
 *   are plain text.
 * @param options.rootUrls   Base URLs of this service, without a trailing slash.
 */
export function findReferences(
  text: string,
  options: { readonly isMarkdown: boolean; readonly rootUrls: readonly string[] },
): TextReferences {
  const { isMarkdown, rootUrls } = options;
  const searched = isMarkdown ? maskMarks(maskCode(text, { withHtml: true })) : text;
  const issues = new Map<string, ReferredIssue>();
  const users = new Set<string>();
  const teams = new Map<string, { org: string; team: string }>();
  let timeLog = 0;
  let lastKey: string | undefined;

  for (const { 0: whole, index } of searched.matchAll(/\S+/g)) {
    const word = whole.replace(OPENING, "");
    const start = index + whole.length - word.length;
    const short = readIssue(word);
    const url = short ? undefined : readUrl(whole, rootUrls);
    const found = short ?? url;
    if (found && issues.size < REFERENCES_MAX) {
      const { repo, number } = found;
      const isAlone = short !== undefined || (!isMarkdown && word.startsWith("http"));
      const action = isAlone
        ? readAction(searched, start, found)
        : url && isMarkdown && LINK_END.test(url.rest)
          ? readActionOfLink(text, url.text)
          : "none";
      const key = [repo?.owner, repo?.name, number, action].join("/");
      const isNew = !issues.has(key);
      if (isNew) issues.set(key, { repo, number, action, seconds: timeLog });
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

/** The references of an issue or pull request, of which only the description is Markdown. */
export function findIssueReferences(
  { title, body }: { readonly title: string; readonly body: string },
  rootUrls: readonly string[],
): TextReferences {
  const found = [
    findReferences(title, { isMarkdown: false, rootUrls }),
    findReferences(body, { isMarkdown: true, rootUrls }),
  ];
  return {
    issues: found.flatMap(({ issues }) => issues),
    users: [...new Set(found.flatMap(({ users }) => users))],
    teams: found.flatMap(({ teams }) => teams),
  };
}

interface Found extends Pick<ReferredIssue, "repo" | "number"> {
  /** Characters of the reference. */
  readonly length: number;
}

/** Reads the keyword of a reference that starts at `start`. */
function readAction(text: string, start: number, { repo, length }: Found): ReferredIssue["action"] {
  const end = repo ? END_OF_REPO : END_OF_NUMBER;
  const isWhole = end.test(text.slice(start + length, start + length + 2));
  return isWhole ? readKeyword(text, start) : "none";
}

/**
 * Reads the keyword of a URL in Markdown, where it is there first.
 *
 * @see Gitea's modules/references/references.go, findAllIssueReferencesBytes.
 */
function readActionOfLink(text: string, url: string): ReferredIssue["action"] {
  const at = text.indexOf(url);
  const before = text.slice(Math.max(0, at - LINK_TEXT_WINDOW), at);
  const bracket = before.endsWith("(") ? before.lastIndexOf("[") : -1;
  return readKeyword(text, bracket < 0 ? at : at - before.length + bracket);
}

/** Reads the keyword in front of `end`. */
function readKeyword(text: string, end: number): ReferredIssue["action"] {
  const [match, closing] = KEYWORD.exec(text.slice(Math.max(0, end - KEYWORD_WINDOW), end)) ?? [];
  if (match === undefined) return "none";
  return closing === undefined ? "reopens" : "closes";
}

function readIssue(word: string): Found | undefined {
  const match = ISSUE.exec(word);
  if (!match || !ENDING.test(word.slice(match[0].length))) return undefined;
  return toFound(match, match[0].length);
}

const URL_PATH = new RegExp(`^/(${NAME})/(${NAME})/(?:issues|pulls)/(\\d{1,10})(?!\\d)(?![/\\w])`);
/** The rest of a word behind the number in a URL of Markdown that may have a keyword. */
const LINK_END = /^(?:$|[#?)]|[.,:;!?)\]'"*_~>|}`]+$)/;
/** Characters in front of a URL in its word. */
const URL_OPENING = /^$|[([{'"*_~<|=]$/;

function readUrl(
  word: string,
  rootUrls: readonly string[],
): (Found & { readonly text: string; readonly rest: string }) | undefined {
  for (const rootUrl of rootUrls) {
    const at = rootUrl === "" ? -1 : word.indexOf(`${rootUrl}/`);
    if (at === -1 || !URL_OPENING.test(word.slice(0, at).slice(-1))) continue;
    const path = word.slice(at + rootUrl.length);
    const match = URL_PATH.exec(path);
    const found = match && toFound(match, rootUrl.length + match[0].length);
    if (found) return { ...found, text: rootUrl + match[0], rest: path.slice(match[0].length) };
  }
  return undefined;
}

/** The issue of a match with owner, name and number. */
function toFound(match: RegExpExecArray, length: number): Found | undefined {
  const [, owner, name, digits] = match;
  const number = Number(digits);
  if (number === 0) return undefined;
  const repo =
    owner === undefined || name === undefined
      ? undefined
      : { owner: owner.toLowerCase(), name: name.toLowerCase() };
  return { repo, number, length };
}
