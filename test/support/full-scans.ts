import { env } from "cloudflare:workers";

/**
 * How many values a statement binds: a parameter with a number stands for one, wherever it is
 * repeated.
 */
function parameterCount(statement: string): number {
  const numbers = [...statement.matchAll(/\?(\d*)/g)].map(([, number]) => number);
  return Math.max(numbers.filter((number) => number === "").length, ...numbers.map(Number));
}

/** The query plan of a statement, step by step. */
export async function planOf(statement: string): Promise<string[]> {
  const values = Array.from({ length: parameterCount(statement) }, () => 1);
  const { results } = await env.DB.prepare(`explain query plan ${statement}`)
    .bind(...values)
    .all<{ detail: string }>();
  return results.map(({ detail }) => detail);
}

let known: Promise<ReadonlySet<string>> | undefined;
/** Every table of the database. */
const knownTables = (): Promise<ReadonlySet<string>> => (known ??= readTables());

async function readTables(): Promise<ReadonlySet<string>> {
  const { results } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table'",
  ).all<{ name: string }>();
  return new Set(results.map(({ name }) => name));
}

/** Keywords that may follow a table name and are not an alias. */
const KEYWORDS = new Set(
  (
    "where on set left right full join inner outer cross natural order group having limit offset using " +
    "values select indexed not union except intersect as default returning and or is in then when end from"
  ).split(" "),
);

/**
 * The tables that each name in a statement may refer to: the table of that name, or aliased tables.
 */
function tablesByName(statement: string, tables: ReadonlySet<string>): Map<string, Set<string>> {
  const byName = new Map([...tables].map((table) => [table, new Set([table])]));
  const uses = statement.matchAll(/(?<![.\w])"?(\w+)"?(?=\s+(?:as\s+)?"?(\w+)"?)/gi);
  for (const [, table = "", alias = ""] of uses) {
    if (!tables.has(table) || KEYWORDS.has(alias.toLowerCase())) continue;
    byName.set(alias, (byName.get(alias) ?? new Set()).add(table));
  }
  return byName;
}

/**
 * The results of parts of a statement: common table expressions, subqueries, and rows of values.
 */
function isDerived(name: string, statement: string, plan: readonly string[]): boolean {
  if (/^\(|^\d/.test(name)) return true;
  return (
    plan.some((step) => step === `MATERIALIZE ${name}` || step === `CO-ROUTINE ${name}`) ||
    new RegExp(`(?:with|recursive|,)\\s+"?${name}"?\\s*(?:\\([^)]*\\))?\\s*as\\b`, "i").test(
      statement,
    )
  );
}

async function scansOf(statement: string): Promise<string[]> {
  const plan = await planOf(statement);
  const byName = tablesByName(statement, await knownTables());
  // `where 0` reads no rows, although its plan scans an index.
  let emptyCount = [...statement.matchAll(/\bfrom "?\w+"? where 0(?![\w.])/gi)].length;
  return plan.flatMap((step) => {
    const [, name = ""] = /^SCAN (\([^)]*\)|\S+)/.exec(step) ?? [];
    if (name === "" || / VIRTUAL TABLE INDEX /.test(step)) return [];
    // With a limit, an index is scanned in order only as far as the limit.
    if (/ USING /.test(step) && (/\blimit\b/i.test(statement) || emptyCount-- > 0)) return [];
    if (name === "CONSTANT" || isDerived(name, statement, plan)) return [];
    const tables = byName.get(name);
    if (!tables) return [`${step}, an unknown table: ${statement}`];
    return [`${step} of ${[...tables].join(" or ")}: ${statement}`];
  });
}

const scansByStatement = new Map<string, Promise<string[]>>();

/** The full table scans of `statements`: plan steps that use neither an index nor a key. */
export async function fullScans(statements: readonly string[]): Promise<string[]> {
  const planned = statements.filter((each) =>
    /^\s*(?:with|select|delete|update|insert)/i.test(each),
  );
  const scans = planned.map((statement) => {
    const found = scansByStatement.get(statement) ?? scansOf(statement);
    scansByStatement.set(statement, found);
    return found;
  });
  return (await Promise.all(scans)).flat();
}
