/** Columns by table: those that a shard owns in its copy. Each under both names, that of its property and that in SQL. */
export type OwnedByTable = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The columns that `.update(table).set({ … })` changes, by their properties.
 *
 * @param rest What follows the table's name.
 * @returns Undefined where the text does not say them all: for a value with a name, or a function's.
 */
export function columnsOfSet(rest: string): string[] | undefined {
  const [start] = /^\s*\)\s*\.set\(\s*(?=\{)/.exec(rest) ?? [];
  return start === undefined ? undefined : keysOf(insideOf(rest.slice(start.length)));
}

/** The keys of an object's text, and those of objects that are spread in it under a condition. */
function keysOf(object: string): string[] | undefined {
  const keys: string[] = [];
  for (const part of splitAtCommas(object)) {
    const spread = /^\.\.\.\([^{}]*&&\s*(?=\{)/.exec(part)?.[0];
    const inner = spread === undefined ? undefined : keysOf(insideOf(part.slice(spread.length)));
    const key = /^(\w+)(?:\s*:|$)/.exec(part)?.[1];
    if (inner) keys.push(...inner);
    else if (key === undefined) return undefined;
    else keys.push(key);
  }
  return keys;
}

/**
 * The columns that an `update` in SQL changes.
 *
 * @param rest What follows the table's name.
 * @returns Undefined where the text does not say them.
 */
export function columnsOfSqlSet(rest: string): string[] | undefined {
  const [start] = /^\s+set\b/i.exec(rest) ?? [];
  if (start === undefined) return undefined;
  const columns: string[] = [];
  for (const part of splitAtCommas(rest.slice(start.length))) {
    const [, list, one] = /^(?:\(([^()]*)\)|([`"\w]+))\s*=/.exec(part) ?? [];
    const named = (list ?? one)?.split(",").map((column) => column.replaceAll(/[`"\s]/g, ""));
    if (!named) return undefined;
    columns.push(...named);
    // The rest is no list of columns.
    if (/\b(?:from|where|returning)\b/i.test(withoutNested(part))) break;
  }
  return columns;
}

/** Whether all columns that an update changes are owned. */
export const isOwned = (
  owned: ReadonlySet<string> | undefined,
  columns: readonly string[] | undefined,
): boolean =>
  owned !== undefined && columns !== undefined && columns.every((column) => owned.has(column));

const OPENING = "([{";
const CLOSING = ")]}";

/** The text between the bracket with which it begins and the one that closes it. */
function insideOf(text: string): string {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (OPENING.includes(char)) depth += 1;
    else if (CLOSING.includes(char) && --depth === 0) return text.slice(1, at);
  }
  return text.slice(1);
}

/** The parts between commas that are in no brackets, up to a bracket or a semicolon that ends the whole. */
function splitAtCommas(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const char of text) {
    if (OPENING.includes(char)) depth += 1;
    else if (CLOSING.includes(char)) depth -= 1;
    if (depth < 0 || (char === ";" && depth === 0)) break;
    if (char === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** The text without what is in brackets. */
function withoutNested(text: string): string {
  let depth = 0;
  let rest = "";
  for (const char of text) {
    if (OPENING.includes(char)) depth += 1;
    if (depth === 0) rest += char;
    if (CLOSING.includes(char)) depth -= 1;
  }
  return rest;
}
