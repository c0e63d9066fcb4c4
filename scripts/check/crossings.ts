import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import * as schema from "../../src/db/schema/index.ts";
import { projectRoot } from "../project.ts";
import { type Check, toResult } from "./check.ts";
import { findCrossings } from "./crossings/find-crossings.ts";
import {
  compareWithKnown,
  type Crossings,
  readKnown,
  shrinkKnown,
  writeKnown,
} from "./crossings/known.ts";
import { findForeignKeys, findTriggers, namesOf, tablesOf } from "./crossings/schema-crossings.ts";
import { OWNED, SIDES } from "./crossings/sides.ts";

/**
 * No new statement, foreign key or trigger needs tables of accounts or of the directory together with a repository's own
 * data, which moves to databases of its own. Those of today are listed, and the list only shrinks: docs/sharding.md.
 */
export const crossings: Check = {
  name: "crossings",
  run: async () => {
    const unassigned = [...namesOf(tablesOf(schema)).values()].filter((name) => !SIDES.has(name));
    const { functions, foreignKeys, triggers } = findAllCrossings();
    const result = toResult([
      ...unassigned.map((name) => `${name} has no side in scripts/check/crossings/sides.ts`),
      ...compareWithKnown({ functions, foreignKeys, triggers }, readKnown()),
    ]);
    const [some, keys] = [Object.keys(functions).length, foreignKeys.length];
    const count = `${some} functions, ${keys} foreign keys and ${triggers.length} triggers`;
    return result.isOk ? { ...result, detail: count } : result;
  },
};

/** Removes from the list what does not cross any more. */
export const shortenCrossings = (): void =>
  writeKnown(shrinkKnown(readKnown(), findAllCrossings()));

function findAllCrossings(): Crossings {
  const tables = tablesOf(schema);
  const read = (pattern: string): [string, string][] =>
    globSync(pattern, { cwd: projectRoot })
      .toSorted()
      .map((path) => [path, readFileSync(join(projectRoot, path), "utf8")]);
  const found = findCrossings(new Map(read("src/**/*.{ts,tsx}")), {
    names: namesOf(tables),
    sides: SIDES,
    owned: OWNED,
  });
  const migrations = read("migrations/*.sql").map(([, text]) => text);
  return {
    functions: Object.fromEntries(found),
    foreignKeys: findForeignKeys(tables.values(), SIDES),
    triggers: findTriggers(migrations, { sides: SIDES, owned: OWNED }),
  };
}
