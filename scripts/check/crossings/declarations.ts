import { dirname, join } from "node:path";

/** A function or constant at the top level of a file. */
export type Declaration = {
  file: string;
  name: string;
  /** Without comments. */
  text: string;
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
    declarations: splitDeclarations(path, source),
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
