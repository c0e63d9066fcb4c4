import { type Declaration, readSource, type Reference, type SourceFile } from "./declarations.ts";
import type { Side } from "./sides.ts";

/** A function that names tables of both sides, sorted. */
export type Crossing = { first: string[]; own: string[] };

/** The tables: their names in SQL by the names of their exports, and the sides of the former. */
export type Tables = {
  names: ReadonlyMap<string, string>;
  sides: ReadonlyMap<string, Side>;
};

/** What every function that builds a statement or a part of one contains. */
const BUILDS_SQL =
  /\bsql[`<.]|\.(?:select|selectDistinct|insert|update|delete|from|batch)\(|\b(?:and|or|eq|ne|exists|inArray|allOf|anyOf|columnsOf|getTableColumns)\(/;
const SCHEMA = "src/db/schema/";
const SQL_NAME = /\b(?:from|join|into|update)\s+(\w+)/gi;

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
  const known = new Map<Declaration, ReadonlySet<string>>();

  const tablesOf = (file: SourceFile, declaration: Declaration): ReadonlySet<string> => {
    const done = known.get(declaration);
    if (done) return done;
    const found = namesInSql(declaration.text, sides);
    // A cycle of functions ends here; whichever is asked first has all.
    known.set(declaration, found);
    for (const local of new Set(declaration.text.match(IDENTIFIER))) {
      const reference = file.imports.get(local) ?? { file: file.path, name: local };
      const table = reference.file.startsWith(SCHEMA) ? names.get(reference.name) : undefined;
      if (table !== undefined) found.add(table);
      const [owner, fragment] = resolve(files, reference, declaration);
      if (owner && fragment) for (const name of tablesOf(owner, fragment)) found.add(name);
    }
    return found;
  };

  const crossings = new Map<string, Crossing>();
  for (const file of files.values()) {
    if (file.path.startsWith(SCHEMA)) continue;
    for (const declaration of file.declarations) {
      if (!BUILDS_SQL.test(declaration.text)) continue;
      const found = [...tablesOf(file, declaration)].toSorted();
      const of = (side: Side): string[] => found.filter((name) => sides.get(name) === side);
      const crossing = { first: of("first"), own: of("own") };
      if (crossing.first.length > 0 && crossing.own.length > 0)
        crossings.set(`${file.path} ${declaration.name}`, crossing);
    }
  }
  return crossings;
}

/** Names that are no properties and no keys. */
const IDENTIFIER = /(?<![.\w$]|\w\?\.)[A-Za-z_]\w*(?!\w|\s*:\s)/g;

function namesInSql(text: string, sides: ReadonlyMap<string, Side>): Set<string> {
  const found = [...text.matchAll(SQL_NAME)].map(([, name = ""]) => name.toLowerCase());
  return new Set(found.filter((name) => sides.has(name)));
}

/** The fragment that a name refers to, with its file. */
function resolve(
  files: ReadonlyMap<string, SourceFile>,
  { file, name }: Reference,
  from: Declaration,
): [SourceFile, Declaration] | [] {
  if (file.startsWith(SCHEMA)) return [];
  const owner = files.get(file);
  const declaration = owner?.declarations.find((one) => one.name === name);
  const isFragment =
    declaration !== undefined &&
    declaration !== from &&
    BUILDS_SQL.test(declaration.text) &&
    !/\bawait\b|^(?:export )?(?:async|class)\b/.test(declaration.text);
  return owner && isFragment ? [owner, declaration] : [];
}
