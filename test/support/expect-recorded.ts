import { env } from "cloudflare:workers";
import { expect } from "vitest";

import recorded from "../work.json";
import { BOUNDED, type Work } from "./count-work.ts";

declare module "vitest" {
  interface TaskMeta {
    /** The work that a test has counted, by names: test/work.json bounds it. */
    works?: Record<string, BoundedWork>;
  }
}

type BoundedWork = Pick<Work, (typeof BOUNDED)[number]>;

const boundedOf = (work: Work): BoundedWork =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- has each kind as a key.
  Object.fromEntries(BOUNDED.map((kind) => [kind, work[kind]])) as BoundedWork;

/** The work that is recorded, by files and names: what is not listed is not done. */
const RECORDED: Readonly<Record<string, Record<string, Partial<Work>>>> = recorded;

/** A test: what Vitest hands to its function. */
interface Task {
  readonly meta: { works?: Record<string, BoundedWork> };
  readonly file: { readonly name: string };
}

/**
 * Expects that nothing counts more than test/work.json has of the same name in the same file.
 * `npm test -- --record <file>` writes what was counted there.
 */
export function expectRecorded({ meta, file }: Task, works: Readonly<Record<string, Work>>): void {
  const counted = Object.entries(works).map(([name, work]) => [name, boundedOf(work)] as const);
  meta.works = { ...meta.works, ...Object.fromEntries(counted) };
  if (env.TEST_RECORD) return;
  const known = RECORDED[file.name] ?? {};
  const grown = Object.entries(works).flatMap(([name, work]) => {
    const bound = known[name];
    if (!bound) return [`${name}: not recorded`];
    return BOUNDED.filter((kind) => work[kind] > (bound[kind] ?? 0)).map(
      (kind) => `${name}: ${work[kind]} ${kind}, ${bound[kind] ?? 0} are recorded`,
    );
  });
  expect(grown, `if it is meant, run: npm test -- --record ${file.name}`).toEqual([]);
}
