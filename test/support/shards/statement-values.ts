/** A parameter, a number, or a text, which may contain both. */
const VALUE = /'(?:[^']|'')*'|\?|(?<![\w"`.])\d+(?![\w"`])/g;

/** Where the values of a statement are, and which. */
function valuesIn(text: string, values: readonly unknown[]): { index: number; value: unknown }[] {
  let at = 0;
  return [...text.matchAll(VALUE)].flatMap(({ 0: found, index }) => {
    if (found.startsWith("'")) return [];
    return [{ index, value: found === "?" ? values[at++] : Number(found) }];
  });
}

/** All parameters and numbers of a statement. */
export const allValues = (text: string, values: readonly unknown[]): unknown[] =>
  valuesIn(text, values).map(({ value }) => value);

/** How far before a value its column may be: a list has at most a hundred parameters. */
const BEFORE_MAX = 2000;

/**
 * The values that a statement compares with a column, by `=` or `in`.
 *
 * @param column In SQL, with or without its table.
 */
export function comparedValues(
  text: string,
  values: readonly unknown[],
  column: string,
): unknown[] {
  const name = column
    .split(".")
    .map((part) => `["\`]?${part}["\`]?`)
    .join("\\.");
  const before = new RegExp(
    `(?<![\\w"])(?:["\`]?\\w+["\`]?\\.)?${name}\\s*(?:=|in\\s*\\((?:\\s*[?\\d]+\\s*,)*)\\s*$`,
    "i",
  );
  return valuesIn(text, values)
    .filter(({ index }) => before.test(text.slice(Math.max(0, index - BEFORE_MAX), index)))
    .map(({ value }) => value);
}

const INSERT =
  /^\s*insert(?:\s+or\s+\w+)?\s+into\s+["`]?\w+["`]?\s*\(([^)]*)\)\s*(values|select)\b/i;

/**
 * The values that a statement inserts into a column.
 *
 * @returns undefined if it inserts none, an empty list if it has none for the column.
 */
export function insertedValues(
  text: string,
  values: readonly unknown[],
  column: string,
): unknown[] | undefined {
  const start = INSERT.exec(text);
  if (!start) return undefined;
  const [before, names = "", kind = ""] = start;
  const wanted = names
    .split(",")
    .map((name) => name.replaceAll(/[\s"`]/g, ""))
    .indexOf(column);
  const isSelect = kind.toLowerCase() === "select";
  // A select has one list, without parentheses.
  const outside = isSelect ? 1 : 0;
  let depth = outside;
  let place = 0;
  const found: unknown[] = [];
  const known = new Map(valuesIn(text, values).map(({ index, value }) => [index, value]));
  for (const { 0: token, index } of text
    .slice(before.length)
    .matchAll(/'(?:[^']|'')*'|[(),?]|[^\s'(),?]+/g)) {
    if (depth === outside && (isSelect ? /^from$/i : /^(?:on|returning)$/i).test(token)) break;
    if (token === "(" && ++depth === 1) place = 0;
    else if (token === ")") depth--;
    else if (token === "," && depth === 1) place++;
    const at = before.length + index;
    if (place === wanted && depth === 1 && known.has(at)) found.push(known.get(at));
  }
  return found;
}

/** How many rows a statement returns at most. */
export function limitOf(text: string, values: readonly unknown[]): number | undefined {
  const [, limit, offset] =
    /\blimit \+?(\?|\d+)( offset \+?\?)?\s*$/i.exec(text.replaceAll(/[()]/g, " ")) ?? [];
  if (limit === undefined) return undefined;
  if (limit !== "?") return Number(limit);
  return Number(values.at(offset === undefined ? -1 : -2));
}
