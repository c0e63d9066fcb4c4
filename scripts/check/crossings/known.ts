import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Crossing } from "./find-crossings.ts";

/** All crossings, as `known.json` lists them. */
export type Crossings = {
  functions: Record<string, Crossing>;
  foreignKeys: string[];
  triggers: string[];
};

const FILE = join(import.meta.dirname, "known.json");

export const readKnown = (): Crossings => JSON.parse(readFileSync(FILE, "utf8")) as Crossings;

export const writeKnown = (crossings: Crossings): void =>
  writeFileSync(FILE, `${JSON.stringify(crossings, undefined, 2)}\n`);

/** What is in the list and still there: the list never grows. */
export function shrinkKnown(known: Crossings, found: Crossings): Crossings {
  const both = (some: string[], others: string[]): string[] =>
    some.filter((one) => others.includes(one));
  return {
    functions: Object.fromEntries(
      Object.entries(known.functions).flatMap(([name, { first, own }]) => {
        const now = found.functions[name];
        if (!now) return [];
        const left = { first: both(first, now.first), own: both(own, now.own) };
        return left.first.length > 0 && left.own.length > 0 ? [[name, left]] : [];
      }),
    ),
    foreignKeys: both(known.foreignKeys, found.foreignKeys),
    triggers: both(known.triggers, found.triggers),
  };
}

/** A complaint for each crossing that is not in the list, and for each of the list that is not there any more. */
export function compareWithKnown(found: Crossings, known: Crossings): string[] {
  const functions = Object.entries(found.functions).flatMap(([name, { first, own }]) => {
    const before = known.functions[name] ?? { first: [], own: [] };
    const added = [...first, ...own].filter(
      (table) => !before.first.includes(table) && !before.own.includes(table),
    );
    return added.length === 0
      ? []
      : [`${name} joins ${first.join(", ")} with ${own.join(", ")}: ${added.join(", ")} is new`];
  });
  const isNew = (kind: string, now: string[], before: string[]): string[] =>
    now
      .filter((one) => !before.includes(one))
      .map((one) => `${kind} crosses the databases: ${one}`);
  const left = shrinkKnown(known, found);
  return [
    ...functions,
    ...isNew("a foreign key", found.foreignKeys, known.foreignKeys),
    ...isNew("a trigger", found.triggers, known.triggers),
    ...(JSON.stringify(left) === JSON.stringify(known)
      ? []
      : ["fewer crossings than in the list: `npm run generate` shortens it"]),
  ];
}
