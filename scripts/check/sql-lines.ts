import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { projectRoot } from "../project.ts";
import { type Check, toResult } from "./check.ts";
import { templateEnd } from "./template-end.ts";

const LENGTH_MAX = 100;

/** A template that is tagged `sql`, or passed to D1 or to a Durable Object's storage. */
const SQL_START = /(?:\bsql(?:<[^`;]*?>)?|\b(?:exec|prepare)(?:<[^`;]*?>)?\(\s*)`/g;

/** SQL is written in short lines: the formatter does not format templates. */
export const sqlLines: Check = {
  name: "sql",
  run: async () => toResult(findLongSql(join(projectRoot, "src"))),
};

function findLongSql(root: string): string[] {
  return readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".ts"))
    .toSorted()
    .flatMap((name) =>
      longLinesOf(readFileSync(join(root, name), "utf8")).map(
        (line) => `src/${name}:${line}: a line of SQL may have at most ${LENGTH_MAX} characters`,
      ),
    );
}

/** @returns The numbers, from 1, of lines of SQL that are too long. */
export function longLinesOf(source: string): number[] {
  const lines = source.split("\n");
  const lineAt = (at: number): number => source.slice(0, at).split("\n").length;
  const found = new Set<number>();
  for (const match of source.matchAll(SQL_START)) {
    const last = lineAt(templateEnd(source, match.index + match[0].length));
    for (let line = lineAt(match.index); line <= last; line++) {
      if ((lines[line - 1] ?? "").length > LENGTH_MAX) found.add(line);
    }
  }
  return [...found].toSorted((a, b) => a - b);
}
