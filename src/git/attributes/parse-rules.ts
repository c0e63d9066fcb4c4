import type { ByteText } from "../byte-text.ts";
import { readQuotedName } from "../quoted-name.ts";
import type { Glob } from "../glob/match-glob.ts";
import { literalLength, parseWildmatch } from "../glob/wildmatch.ts";

/** The value that a line assigns to an attribute: set, unset, unspecified, or a text. */
export type AttributeValue = true | false | "unspecified" | { readonly text: ByteText };

export interface Assignment {
  readonly name: ByteText;
  readonly value: AttributeValue;
}

/**
 * A line of a `.gitattributes` file: a pattern, and the attributes of the paths that it matches.
 */
export interface AttributeRule {
  readonly pattern: PathPattern;
  readonly assignments: readonly Assignment[];
}

/** A pattern, split into a literal prefix and a glob as in git. */
export interface PathPattern {
  /** Matches directories only. */
  readonly isForDirectory: boolean;
  /** The pattern has no slash, so it is compared with the last name of a path at any depth. */
  readonly isForName: boolean;
  /** Literal bytes at the start. */
  readonly literal: ByteText;
  /** The pattern after the literal bytes; undefined if it ends there. */
  readonly glob: Glob | undefined;
}

/** Lines of at least this length are ignored, in bytes. */
const LINE_BYTES_MAX = 2048;

const BLANK = /[ \t\r\n]/;

/**
 * Parses a `.gitattributes` file. Invalid lines are ignored.
 *
 * @param onMacro Called for each `[attr]` macro definition; undefined where macros are not allowed.
 * @see gitattributes(5).
 */
export function parseAttributeRules(
  text: ByteText,
  onMacro?: (name: ByteText, assignments: readonly Assignment[]) => void,
): AttributeRule[] {
  const [content = ""] = text.split("\0", 1);
  const rules: AttributeRule[] = [];
  for (const line of content.split("\n")) {
    const parsed = splitLine(line);
    const assignments = parsed && parseAssignments(parsed.rest);
    if (!parsed || !assignments) continue;
    const { name } = parsed;
    if (name.startsWith("[attr]") && name.length > "[attr]".length) {
      const macro = name.slice("[attr]".length) as ByteText;
      if (isAttributeName(macro)) onMacro?.(macro, assignments);
      continue;
    }
    const pattern = parsePathPattern(name);
    if (pattern) rules.push({ pattern, assignments });
  }
  return rules;
}

/** Splits a line into its pattern, unquoted, and the rest. */
function splitLine(line: string): { name: ByteText; rest: string } | undefined {
  const start = line.search(/[^ \t\r\n]/);
  if (start < 0 || line.charAt(start) === "#" || line.length >= LINE_BYTES_MAX) return undefined;
  const trimmed = line.slice(start);
  const quoted = readQuotedName(trimmed);
  if (quoted) return quoted;
  const end = trimmed.search(BLANK);
  const name = end < 0 ? trimmed : trimmed.slice(0, end);
  return { name: name as ByteText, rest: trimmed.slice(name.length) };
}

/** @returns Undefined if a name is invalid. */
function parseAssignments(text: string): Assignment[] | undefined {
  const assignments: Assignment[] = [];
  for (const word of text.split(/[ \t\r\n]+/)) {
    if (word === "") continue;
    const equals = word.indexOf("=");
    const head = equals < 0 ? word : word.slice(0, equals);
    const sign = /^[-!]/.exec(head)?.[0];
    const name = (sign === undefined ? head : head.slice(1)) as ByteText;
    if (!isAttributeName(name)) return undefined;
    assignments.push({
      name,
      value: toValue(sign, equals < 0 ? undefined : word.slice(equals + 1)),
    });
  }
  return assignments;
}

function toValue(sign: string | undefined, text: string | undefined): AttributeValue {
  if (sign === "-") return false;
  if (sign === "!") return "unspecified";
  return text === undefined ? true : { text: text as ByteText };
}

const isAttributeName = (name: string): boolean => /^[A-Za-z0-9_.][-A-Za-z0-9_.]*$/.test(name);

/** @returns Undefined for a pattern that matches nothing. */
function parsePathPattern(text: ByteText): PathPattern | undefined {
  if (text.startsWith("!")) return undefined;
  const isForDirectory = text.endsWith("/");
  const path = isForDirectory ? text.slice(0, -1) : text;
  const isForName = !path.includes("/");
  const pattern = (path.startsWith("/") ? path.slice(1) : path) as ByteText;
  const length = literalLength(pattern);
  const rest = pattern.slice(length) as ByteText;
  const glob = rest === "" ? undefined : parseWildmatch(rest);
  if (rest !== "" && !glob) return undefined;
  return { isForDirectory, isForName, literal: pattern.slice(0, length) as ByteText, glob };
}
