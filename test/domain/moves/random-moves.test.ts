import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { KEPT_TABLES } from "../../../src/db/moves/moved-tables.ts";
import { runMove } from "../../../src/domain/moves/run-moves.ts";
import { intercepted } from "../../support/intercepted-database.ts";
import { makeRepository, SHARDED, shardDatabase, shardedCtx } from "../../support/sharded.ts";
import { drawFrom } from "../shards/directory-changes.ts";
import {
  insertRow,
  makeNetwork,
  withMoves,
  ownedIn,
  rowsIn,
  runUntil,
  startMove,
} from "./fixtures.ts";
import { openJournal, shardOf, writersOf } from "./random-writes.ts";

withMoves();

/** What the counters of a repository's row are to be. */
const countersOf = (shard: number, repoIds: readonly number[]) =>
  shardDatabase(shard).all(sql`
    select r.id,
      (select count(*) from issues where repo_id = r.id and not is_pull and not is_closed) as open_issue_count,
      (select count(*) from issues where repo_id = r.id and not is_pull and is_closed) as closed_issue_count,
      (select count(*) from issues where repo_id = r.id and is_pull and not is_closed) as open_pull_count,
      (select count(*) from issues where repo_id = r.id and is_pull and is_closed) as closed_pull_count,
      (select count(*) from releases where repo_id = r.id and not is_draft) as release_count
    from repositories r where r.id in (select value from json_each(${JSON.stringify(repoIds)})) order by id`);

/** The bodies of entries that tell of an issue of another database, with their repositories: each is noted beside that issue, once. */
async function toldIn(...databases: readonly number[]): Promise<ReadonlyMap<string, number>> {
  const told: [string, number][] = [];
  const noted = new Map<number, number>();
  const known = new Map<number, number>();
  for (const shard of databases) {
    const db = shardDatabase(shard);
    const rows = await db.all<{
      body: string;
      repoId: number;
      sentId: number;
      issueId: number;
    }>(sql`
      select t.body, t.repo_id as "repoId", r.sent_id as "sentId", r.issue_id as "issueId"
      from timeline_entries t
      join cross_shard_references r on r.entry_id = t.id
      where t.body glob 'reference *' and t.other_issue_id is null
        and exists (select 1 from repositories where id = t.repo_id and shard = ${shard})`);
    for (const { body, repoId, sentId, issueId } of rows) {
      told.push([body, repoId]);
      noted.set(sentId, issueId);
    }
    const sent = await db.all<{ id: number; issueId: number }>(sql`
      select e.id, e.issue_id as "issueId" from cross_shard_entries e
      join issues i on i.id = e.issue_id and i.repo_id = e.repo_id
      where e.kind = 'issue_ref' and exists (select 1 from repositories where id = e.repo_id and shard = ${shard})`);
    for (const { id, issueId } of sent) known.set(id, issueId);
  }
  for (const [sentId, issueId] of noted) expect(known.get(sentId)).toBe(issueId);
  expect(noted.size).toBe(told.length);
  expect(new Map(told).size).toBe(told.length);
  return new Map(told);
}

/** Issues that wait for one of another database, as `blocked,blocker`. */
async function waitingIn(...databases: readonly number[]): Promise<string[]> {
  const found = databases.map((shard) =>
    shardDatabase(shard).all<{ issueId: number; blockerId: number }>(sql`
      select d.issue_id as "issueId", d.blocker_id as "blockerId"
      from cross_shard_dependencies d
      join issues i on i.id = d.issue_id
      where d.blocker_id < 4e12
        and exists (select 1 from repositories where id = i.repo_id and shard = ${shard})`),
  );
  return (await Promise.all(found))
    .flat()
    .map(({ issueId, blockerId }) => `${issueId},${blockerId}`);
}

describe("a move while the repository is used", () => {
  // A job is killed before or after any of its calls of a database, and writes come between any two of them.
  it.each(env.TEST_ALL ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2, 3])(
    "loses nothing and doubles nothing, whenever its job is killed (%s)",
    async (seed) => {
      const draw = drawFrom(seed);
      const source = seed % 2;
      const target = source + 1;
      const network = await makeNetwork(source);
      const { repoIds } = network;
      const journal = openJournal();
      const stranger = await makeRepository(network.other, source);
      for (const number of [1, 2]) {
        await insertRow(shardDatabase(source), "issues", { repo_id: stranger.id, number });
      }
      const writers = writersOf(network, draw, journal, stranger);
      const { id } = await startMove(network, source, target);
      let calls = 0;
      let killedAt = Number.POSITIVE_INFINITY;
      let writesLeft = 1500;
      const expectReads = async () => {
        const { found, expected } = await writers.read();
        expect(found).toEqual(expected);
      };
      const around = async (call: () => Promise<unknown>): Promise<unknown> => {
        calls += 1;
        if (calls > killedAt) throw new Error("killed");
        if (writesLeft > 0 && draw(3) === 0) {
          writesLeft -= 1;
          await writers.write();
          if (draw(4) === 0) await expectReads();
        }
        const isLast = calls === killedAt;
        if (isLast && draw(2) === 0) throw new Error("killed");
        const result = await call();
        if (isLast) throw new Error("killed");
        return result;
      };
      const bindings = Object.fromEntries(
        Object.entries(SHARDED).flatMap(([name, d1]) =>
          d1 ? [[name, intercepted(d1, around)]] : [],
        ),
      );
      const run = async () => {
        calls = 0;
        killedAt = draw(5) === 0 ? Number.POSITIVE_INFINITY : 1 + draw(120);
        // A job that is killed says nothing more.
        await runMove(shardedCtx(bindings), id).catch(() => undefined);
      };

      const move = await runUntil(id, ["cleaning", "failed"], { runsMax: 200, run });

      expect(move).toMatchObject({ state: "cleaning", differenceCount: 0 });
      expect(journal.accepted).toBeGreaterThan(20);
      killedAt = Number.POSITIVE_INFINITY;
      for (let more = 0; more < 20; more++) await writers.write();
      await expectReads();
      const rows = await rowsIn(target, repoIds);
      const bodies = (rows.get("timeline_entries") as { body: string; repo_id: number }[])
        .filter(({ body }) => body.startsWith("comment "))
        .map(({ body, repo_id }) => [body, repo_id]);
      expect(new Map(bodies as [string, number][])).toEqual(journal.comments);
      expect(bodies).toHaveLength(journal.comments.size);
      const [counters, owned] = [await countersOf(target, repoIds), await ownedIn(target, repoIds)];
      for (const [at, row] of counters.entries()) expect(owned[at]).toMatchObject(row as object);
      for (const repoId of repoIds) expect(await shardOf(repoId)).toBe(target);
      const [told, waiting] = [await toldIn(source, target), await waitingIn(source, target)];
      expect(told).toEqual(journal.references);
      expect(waiting.toSorted()).toEqual([...journal.dependencies].toSorted());
      expect(journal.references.size + journal.dependencies.size).toBeGreaterThan(0);

      await runUntil(id, ["done"]);

      expect(await rowsIn(target, repoIds)).toEqual(rows);
      const left = [...(await rowsIn(source, repoIds))].flatMap(([table, some]) =>
        some.length > 0 ? [table] : [],
      );
      expect(left).toEqual(KEPT_TABLES);
      for (const db of [source, target]) {
        expect(await shardDatabase(db).all(sql`pragma foreign_key_check`)).toEqual([]);
      }
    },
    300_000,
  );
});
