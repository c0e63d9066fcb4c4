import { asc, eq, inArray } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  issueLabels,
  issues,
  labels,
  timelineEntries,
  type Issue,
  type Label,
} from "../../../../src/db/schema/index.ts";
import { makeRandom, type Random } from "../../../git/support/random.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { makeIssue, makeLabel } from "../../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";

const NAMES = ["p/a", "p/b", "p/c", "p/q/a", "p/q/b", "plain", "/x", "/y", "z/", "p/a"];
const SEEDS = [1, 2, 3, 4];
/** Groups of operations of one seed, and requests sent at once. */
const GROUPS = 8;
const AT_ONCE_MAX = 4;

/** A repository of an organization with labels of both, and two issues. */
async function makeScene(random: Random): Promise<Scene> {
  const owner = await make.user();
  const org = await make.org([owner]);
  const repo = await make.repo(org);
  const all: Label[] = [];
  for (const name of NAMES) {
    const of = random.below(2) === 0 ? { repo } : { org };
    all.push(await makeLabel(of, { name, isExclusive: random.below(5) > 0 }));
  }
  return { owner, repo, all, both: [await makeIssue(repo), await makeIssue(repo)] };
}

interface Scene {
  readonly owner: TestUser;
  readonly repo: TestRepo;
  readonly all: Label[];
  readonly both: Issue[];
}

/** A request that changes labels, or the state of an issue. */
interface Act {
  readonly kind: "add" | "replace" | "remove" | "state";
  readonly issue: Issue;
  /** The labels that it names: all of a name, where it names names. */
  readonly named: readonly Label[];
  send(): Promise<void>;
}

function makeAct(random: Random, { owner, repo, all, both }: Scene): Act {
  const issue = random.pick(both);
  const path = `/repos/${repo.owner}/${repo.name}/issues/${issue.number}/labels`;
  const kind = random.pick(["add", "add", "add", "replace", "remove", "state"] as const);
  const some = Array.from({ length: random.below(4) }, () => random.pick(all));
  const byName = random.below(2) === 0;
  const names = new Set(some.map(({ name }) => name));
  const one = random.pick(all);
  const isClosed = random.below(2) === 0;
  const send = async () => {
    if (kind === "state") {
      await db.update(issues).set({ isClosed }).where(eq(issues.id, issue.id));
      return;
    }
    const json = { labels: some.map((label) => (byName ? label.name : label.id)) };
    const { status } =
      kind === "remove"
        ? await call("DELETE", `${path}/${one.id}`, { as: owner })
        : await call(kind === "add" ? "POST" : "PUT", path, { as: owner, json });
    expect(status).toBe(kind === "remove" ? 204 : 200);
  };
  if (kind === "remove") return { kind, issue, named: [one], send };
  const named = byName ? all.filter(({ name }) => names.has(name)) : some;
  return { kind, issue, named, send };
}

/** The labels that an act leaves on its issue, by the documented rules. */
function expectedAfter({ kind, named }: Act, held: readonly Label[]): Set<number> {
  const kept = [...new Set(named)].filter(
    (label) =>
      scopeOf(label) === undefined ||
      named.every((other) => scopeOf(other) !== scopeOf(label) || !isBefore(label, other)),
  );
  const scopes = new Set(kept.map(scopeOf).filter((scope) => scope !== undefined));
  const idsOf = (some: readonly Label[]) => some.map(({ id }) => id);
  switch (kind) {
    case "state":
      return new Set(idsOf(held));
    case "remove":
      return new Set(idsOf(held.filter(({ id }) => id !== named[0]?.id)));
    case "replace":
      return new Set(idsOf(kept));
    case "add":
      return new Set(
        idsOf([...held.filter((label) => !scopes.has(scopeOf(label) ?? "")), ...kept]),
      );
    default:
      return kind satisfies never;
  }
}

/** Whether a label precedes another by name, or by id if both have one name. */
const isBefore = (label: Label, other: Label): boolean =>
  label.name === other.name ? label.id < other.id : label.name < other.name;

/**
 * The exclusive scope of a label, by the rule in words: what precedes the last slash, which neither
 * begins nor ends it.
 */
function scopeOf({ name, isExclusive }: Label): string | undefined {
  const at = name.lastIndexOf("/");
  return isExclusive && at > 0 && at < name.length - 1 ? name.slice(0, at) : undefined;
}

async function labelsOf(issue: Issue): Promise<Label[]> {
  const rows = await db
    .select({ label: labels })
    .from(issueLabels)
    .innerJoin(labels, eq(labels.id, issueLabels.labelId))
    .where(eq(issueLabels.issueId, issue.id));
  return rows.map(({ label }) => label);
}

/** The labels that the entries of a timeline leave, each of which must change something. */
async function replay(issue: Issue): Promise<Set<number>> {
  const entries = await db
    .select()
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, issue.id))
    .orderBy(asc(timelineEntries.id));
  const held = new Set<number>();
  for (const { labelId, body } of entries) {
    const id = labelId ?? 0;
    expect(held.has(id), `entry of label ${id}`).toBe(body === "");
    if (body === "1") held.add(id);
    else held.delete(id);
  }
  return held;
}

async function expectConsistent({ all, both }: Scene): Promise<void> {
  const counts = new Map<number, { open: number; closed: number }>();
  for (const issue of both) {
    const held = await labelsOf(issue);
    const scopes = held.map(scopeOf).filter((scope) => scope !== undefined);
    expect(scopes, "one label of each scope").toEqual([...new Set(scopes)]);
    expect(await replay(issue)).toEqual(new Set(held.map(({ id }) => id)));
    const [row] = await db.select().from(issues).where(eq(issues.id, issue.id));
    for (const { id } of held) {
      const count = counts.get(id) ?? { open: 0, closed: 0 };
      count[row?.isClosed ? "closed" : "open"] += 1;
      counts.set(id, count);
    }
  }
  const ids = all.map(({ id }) => id);
  for (const row of await db.select().from(labels).where(inArray(labels.id, ids))) {
    const { open, closed } = counts.get(row.id) ?? { open: 0, closed: 0 };
    expect([row.openIssueCount, row.closedIssueCount], row.name).toEqual([open, closed]);
  }
}

describe("exclusive labels", () => {
  it.each(SEEDS)(
    "stay one of a scope, also in the timeline and the counters, in any order (seed %i)",
    async (seed) => {
      const random = makeRandom(seed);
      const scene = await makeScene(random);
      for (let group = 0; group < GROUPS; group++) {
        const acts = Array.from({ length: 1 + random.below(AT_ONCE_MAX) }, () =>
          makeAct(random, scene),
        );
        await Promise.all(acts.map((act) => act.send()));
        await expectConsistent(scene);
        const single = makeAct(random, scene);
        const expected = expectedAfter(single, await labelsOf(single.issue));
        await single.send();
        const held = await labelsOf(single.issue);
        expect(new Set(held.map(({ id }) => id)), single.kind).toEqual(expected);
      }
      await expectConsistent(scene);
      const changed = await db
        .select()
        .from(timelineEntries)
        .where(
          inArray(
            timelineEntries.issueId,
            scene.both.map(({ id }) => id),
          ),
        );
      expect(changed.length, "changes that were made").toBeGreaterThan(GROUPS / 2);
    },
  );

  it("leaves one of many that are attached at once", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const issue = await makeIssue(repo);
    const names = ["p/a", "p/b", "p/c", "p/d", "p/e", "p/f"];
    for (const name of names) await makeLabel({ repo }, { name, isExclusive: true });
    const path = `/repos/${repo.owner}/${repo.name}/issues/${issue.number}/labels`;
    const answers = await Promise.all(
      names.map((name) => call("POST", path, { as: owner, json: { labels: [name] } })),
    );
    for (const { body } of answers) expect(body).toHaveLength(1);
    expect(await labelsOf(issue)).toHaveLength(1);
    expect(await replay(issue)).toEqual(new Set((await labelsOf(issue)).map(({ id }) => id)));
  });
});
