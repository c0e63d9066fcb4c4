import { type Declaration, readSource, type Reference, type SourceFile } from "./declarations.ts";
import type { Side } from "./sides.ts";

/** A function that names tables of both sides, sorted. Of tables that are copied, only those that it writes. */
export type Crossing = { first: string[]; own: string[] };

/** The tables: their names in SQL by the names of their exports, and the sides of the former. */
export type Tables = {
  names: ReadonlyMap<string, string>;
  sides: ReadonlyMap<string, Side>;
};

/** What every function that builds a statement or a part of one contains. */
const BUILDS_SQL =
  /\bsql[`<.]|\.(?:select|selectDistinct|insert|update|delete|from|batch)\(|\b(?:and|or|eq|ne|exists|inArray|allOf|anyOf|columnsOf|getTableColumns)\(/;
/**
 * What finds out who the caller is inside of a statement. A statement that may be sent to a shard gets a caller who is known, for whom this
 * names no table.
 */
const CALLER: Reference = { file: "src/auth/caller-sql.ts", name: "toCallerSql" };
const SCHEMA = "src/db/schema/";
const SQL_NAME = /\b(?:from|join|into|update)\s+(\w+)/gi;
const SQL_WRITTEN = /\b(?:into|update(?:\s+or\s+\w+)?|delete\s+from)\s+(\w+)/gi;
const WRITTEN = /\.(?:insert|update|delete)\(\s*(\w+)/g;

/** The tables that a declaration names, and those of them that it writes. */
type Named = { readonly all: Set<string>; readonly written: Set<string> };

/**
 * The functions and constants whose statements or batches name tables of both sides.
 *
 * A function counts as one statement: what must be two has two functions. The tables of a fragment of SQL, or of a statement
 * that another function makes without sending it, count where it is used: those functions contain no `await`.
 *
 * @param sources Texts by path below the root.
 * @returns By `<file> <name>`.
 */
export function findCrossings(
  sources: ReadonlyMap<string, string>,
  { names, sides }: Tables,
): Map<string, Crossing> {
  const files = new Map([...sources].map(([path, text]) => [path, readSource(path, text)]));
  const known = new Map<Declaration, Named>();

  const tablesOf = (file: SourceFile, declaration: Declaration): Named => {
    const done = known.get(declaration);
    if (done) return done;
    const { text } = declaration;
    const all = namesIn(text, SQL_NAME, sides);
    const written = namesIn(text, SQL_WRITTEN, sides);
    const found: Named = { all, written };
    // A cycle of functions ends here; whichever is asked first has all.
    known.set(declaration, found);
    const changed = new Set([...text.matchAll(WRITTEN)].map(([, local]) => local));
    for (const local of new Set(text.match(IDENTIFIER))) {
      const reference = file.imports.get(local) ?? { file: file.path, name: local };
      const table = reference.file.startsWith(SCHEMA) ? names.get(reference.name) : undefined;
      if (table !== undefined) {
        all.add(table);
        if (changed.has(local)) written.add(table);
      }
      const [owner, fragment] = resolve(files, reference, declaration);
      if (!owner || !fragment) continue;
      const parts = tablesOf(owner, fragment);
      for (const name of parts.all) all.add(name);
      for (const name of parts.written) written.add(name);
    }
    return found;
  };

  const crossings = new Map<string, Crossing>();
  for (const file of files.values()) {
    if (file.path.startsWith(SCHEMA)) continue;
    for (const declaration of file.declarations) {
      if (!BUILDS_SQL.test(declaration.text)) continue;
      const { all, written } = tablesOf(file, declaration);
      const of = (set: ReadonlySet<string>, side: Side): string[] =>
        [...set].filter((name) => sides.get(name) === side);
      const first = [...of(all, "first"), ...of(written, "copied")].toSorted();
      const own = of(all, "own").toSorted();
      if (first.length > 0 && own.length > 0) {
        crossings.set(`${file.path} ${declaration.name}`, { first, own });
      }
    }
  }
  return crossings;
}

/** Names that are no properties and no keys; what is spread is no property. */
const IDENTIFIER = /(?<!(?<!\.\.)\.|[\w$]|\w\?\.)[A-Za-z_]\w*(?!\w|\s*:\s)/g;

function namesIn(text: string, pattern: RegExp, sides: ReadonlyMap<string, Side>): Set<string> {
  const found = [...text.matchAll(pattern)].map(([, name = ""]) => name.toLowerCase());
  return new Set(found.filter((name) => sides.has(name)));
}

/** The fragment that a name refers to, with its file. */
function resolve(
  files: ReadonlyMap<string, SourceFile>,
  { file, name }: Reference,
  from: Declaration,
): [SourceFile, Declaration] | [] {
  if (file.startsWith(SCHEMA) || (file === CALLER.file && name === CALLER.name)) return [];
  const owner = files.get(file);
  const declaration = owner?.declarations.find((one) => one.name === name);
  const isFragment =
    declaration !== undefined &&
    declaration !== from &&
    BUILDS_SQL.test(declaration.text) &&
    !/\bawait\b|^(?:export )?(?:async|class)\b/.test(declaration.text);
  return owner && isFragment ? [owner, declaration] : [];
}
