import { dirname, join } from "node:path";

/** A function or constant at the top level of a file. */
export type Declaration = {
  file: string;
  name: string;
  /** Without comments. */
  text: string;
  /** Whether it is an argument of `ownStatements`, whose statements are for the database with own data. */
  isOwn?: boolean;
};

/** What a name in a file refers to: what another file, or the same one, exports under a name. */
export type Reference = { file: string; name: string };

/** A file as the check reads it. */
export type SourceFile = {
  path: string;
  declarations: Declaration[];
  /** By local name. */
  imports: Map<string, Reference>;
};

const START = /^(?:export )?(?:default )?(?:async )?(?:function\*?|const|let|class) (\w+)/;
const OTHER = /^(?:export )?(?:declare )?(?:type|interface|enum|import|export) /;
const IMPORT = /^import (type )?\{([^}]*)\} from "(\.[^"]+)";/gm;

/** @param path Below the root, with slashes. */
export function readSource(path: string, source: string): SourceFile {
  return {
    path,
    declarations: splitDeclarations(path, source).flatMap(takeOwnStatements),
    imports: readImportedNames(path, source),
  };
}

/** The formatter puts whatever begins at the top level, and only that, at the beginning of a line. */
function splitDeclarations(file: string, source: string): Declaration[] {
  const declarations: Declaration[] = [];
  let current: Declaration | undefined;
  for (const line of withoutComments(source).split("\n")) {
    const name = START.exec(line)?.[1];
    if (name !== undefined) declarations.push((current = { file, name, text: line }));
    else if (OTHER.test(line)) current = undefined;
    else if (current) current.text += `\n${line}`;
  }
  return declarations;
}

const OWN_STATEMENTS = "ownStatements(";

/** Makes the arguments of `ownStatements` declarations of their own: src/domain/shards/own-statements.ts. */
function takeOwnStatements(declaration: Declaration): Declaration[] {
  const { text, name } = declaration;
  const start = text.indexOf(OWN_STATEMENTS) + OWN_STATEMENTS.length;
  if (start < OWN_STATEMENTS.length) return [declaration];
  let end = start;
  for (let depth = 1; depth > 0 && end < text.length; end++) {
    if (text[end] === "(") depth += 1;
    else if (text[end] === ")") depth -= 1;
  }
  const own = { ...declaration, text: text.slice(start, end - 1), isOwn: true };
  // The name is not found again.
  const rest = `${text.slice(0, start - 1)} ${text.slice(end)}`;
  return [...takeOwnStatements({ ...declaration, text: rest }), { ...own, name: `${name} (own)` }];
}

const withoutComments = (source: string): string =>
  source.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "$1");

function readImportedNames(path: string, source: string): Map<string, Reference> {
  const imports = new Map<string, Reference>();
  for (const [, isType, list = "", from = ""] of source.matchAll(IMPORT)) {
    if (isType !== undefined) continue;
    for (const one of list.split(",")) {
      const [, name = "", local = name] = /^\s*(?!type )(\w+)(?: as (\w+))?\s*$/.exec(one) ?? [];
      if (name !== "") imports.set(local, { file: join(dirname(path), from), name });
    }
  }
  return imports;
}
