import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { projectRoot } from "../project.ts";
import { type Check, toResult } from "./check.ts";
import { templateEnd } from "./template-end.ts";

const LENGTH_MAX = 100;

/** A template that is tagged `sql`, or passed to D1 or to a Durable Object's storage. */
const SQL_START = /(?:\bsql(?:<[^`;]*?>)?|\b(?:exec|prepare)(?:<[^`;]*?>)?\(\s*)`/g;

/** A line of a comment. A directive to the linter can't be broken, and a link neither. */
const COMMENT = /^\s*(?:\/\/|\/\*\*?|\*) (?!oxlint-|\s*\S*https?:\/\/\S+$)/;

/** What the formatter leaves alone is written in short lines: SQL in templates, and comments. */
export const lineLengths: Check = {
  name: "lines",
  run: async () =>
    toResult(["src", "test", "scripts", "bench", "wasm"].flatMap((folder) => findLong(folder))),
};

function findLong(folder: string): string[] {
  return (
    readdirSync(join(projectRoot, folder), { recursive: true })
      .map(String)
      // What is generated from `.proto` files ends so.
      .filter((name) => /(?<!_pb)\.(?:ts|tsx|js)$/.test(name))
      .toSorted()
      .flatMap((name) =>
        longLinesOf(readFileSync(join(projectRoot, folder, name), "utf8"), folder === "src").map(
          (line) =>
            `${folder}/${name}:${line}: SQL and comments have at most ${LENGTH_MAX} characters`,
        ),
      )
  );
}

/**
 * @param hasSql SQL counts, as in the service; that of tests and benchmarks may be long.
 * @returns The numbers, from 1, of lines of SQL or comments that are too long.
 */
export function longLinesOf(source: string, hasSql = true): number[] {
  const lines = source.split("\n");
  const lineAt = (at: number): number => source.slice(0, at).split("\n").length;
  const found = new Set<number>();
  const check = (line: number) => {
    if ((lines[line - 1] ?? "").length > LENGTH_MAX) found.add(line);
  };
  for (const match of hasSql ? source.matchAll(SQL_START) : []) {
    const last = lineAt(templateEnd(source, match.index + match[0].length));
    for (let line = lineAt(match.index); line <= last; line++) check(line);
  }
  for (const [at, line] of lines.entries()) if (COMMENT.test(line)) check(at + 1);
  return [...found].toSorted((a, b) => a - b);
}
