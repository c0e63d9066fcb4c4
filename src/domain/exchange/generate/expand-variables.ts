import { type ByteText, encodeText } from "../../../git/byte-text.ts";
import { overLimit } from "../../../git/error.ts";

/** The values of variables by name, without the dollar sign. */
export type Variables = ReadonlyMap<string, string>;

/** A repository as the variables of a template describe it. */
export interface NamedRepository {
  readonly ownerName: string;
  readonly name: string;
  readonly description: string;
}

/** The words of a name: `HTTPServer-v2` has `HTTP`, `Server` and `v2`. */
const wordsOf = (name: string): string[] =>
  name.match(/[A-Z]+(?![a-z0-9])|[A-Z]?[a-z0-9]+|[A-Z]+/g) ?? [];

const capitalize = (word: string): string =>
  word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase();

const toPascal = (name: string): string => wordsOf(name).map(capitalize).join("");

/** The forms of a name, by the suffix of the variable. */
const TRANSFORMERS: Readonly<Record<string, (name: string) => string>> = {
  "": (name) => name,
  _SNAKE: (name) => wordsOf(name).join("_").toLowerCase(),
  _KEBAB: (name) => wordsOf(name).join("-").toLowerCase(),
  _CAMEL: (name) => {
    const pascal = toPascal(name);
    return pascal.slice(0, 1).toLowerCase() + pascal.slice(1);
  },
  _PASCAL: toPascal,
  _LOWER: (name) => name.toLowerCase(),
  _UPPER: (name) => name.toUpperCase(),
  _TITLE: (name) => name.split("-").map(capitalize).join("-"),
};

/**
 * The variables of a template repository, as Gitea names them.
 *
 * @param rootUrl The base URL of links, without a trailing slash.
 * @param now     In milliseconds.
 */
export function makeVariables(
  repo: NamedRepository,
  template: NamedRepository,
  rootUrl: string,
  now: number,
): Variables {
  const date = new Date(now);
  const twoDigits = (value: number): string => String(value).padStart(2, "0");
  const variables = new Map([
    ["YEAR", String(date.getUTCFullYear())],
    ["MONTH", twoDigits(date.getUTCMonth() + 1)],
    ["MONTH_ENGLISH", MONTHS[date.getUTCMonth()] as string],
    ["DAY", twoDigits(date.getUTCDate())],
  ]);
  for (const [prefix, each] of [["REPO", repo] as const, ["TEMPLATE", template] as const]) {
    const path = `${each.ownerName}/${each.name}`;
    for (const [suffix, transform] of Object.entries(TRANSFORMERS)) {
      variables.set(`${prefix}_NAME${suffix}`, transform(each.name));
      variables.set(`${prefix}_OWNER${suffix}`, transform(each.ownerName));
    }
    variables.set(`${prefix}_DESCRIPTION`, each.description);
    variables.set(`${prefix}_LINK`, `${rootUrl}/${path}`);
    variables.set(`${prefix}_HTTPS_URL`, `${rootUrl}/${path}.git`);
    variables.set(`${prefix}_SSH_URL`, `git@${hostOf(rootUrl)}:${path}.git`);
  }
  return variables;
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : "");

/**
 * Replaces `$NAME` and `${NAME}` by the values of variables. Other names stay as they are: a script
 * has variables of its own.
 *
 * @param lengthMax Maximum length of the result, which a long description multiplies.
 * @throws GitError `limit` if the result is longer.
 */
export function expandVariables(text: ByteText, variables: Variables, lengthMax: number): ByteText {
  let length = text.length;
  return text.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (whole, inBraces: string | undefined, bare: string | undefined) => {
      const value = variables.get(inBraces ?? bare ?? "");
      if (value === undefined) return whole;
      const bytes = encodeText(value);
      length += bytes.length - whole.length;
      if (length > lengthMax) {
        throw overLimit(`a file with variables may have ${lengthMax} bytes at most`);
      }
      return bytes;
    },
  ) as ByteText;
}

/** Characters and names that a file can't have on some system, and the way out of a directory. */
const UNSAFE = /\.\.|[<>:"/\\|?*\p{Cc}]|^(?:con|prn|aux|nul|com\d|lpt\d)$/giu;

/**
 * The variables as they are inserted into paths: a value adds no directory, and no character that a
 * system refuses.
 */
export function pathVariables(variables: Variables): Variables {
  return new Map(
    [...variables].map(([name, value]) => [name, value.replaceAll(UNSAFE, "_").trim()]),
  );
}
