import { type SQL, sql } from "drizzle-orm";

import { isMoving } from "../../../src/db/moves/is-moving.ts";
import { directory, shardDatabase } from "../../support/sharded.ts";
import type { Repository } from "../../../src/db/schema/index.ts";
import { fresh, type Network } from "./fixtures.ts";

/** What writers know of their writes. */
export interface Journal {
  /** Bodies of comments that were accepted, without those that were deleted again. */
  readonly comments: Map<string, number>;
  /** Bodies of entries of the network and of a stranger that tell of an issue of the other one, with their repositories. */
  readonly references: Map<string, number>;
  /** Issues of the network and of a stranger, of which one waits for the other, as `blocked,blocker`. */
  readonly dependencies: Set<string>;
  /** Numbers of events that were accepted, in their order, with their repositories. */
  readonly events: Map<number, number>;
  accepted: number;
  refused: number;
  /** Lists that were read while the repository moved, each with all comments of that moment. */
  reads: number;
}

export const openJournal = (): Journal => ({
  comments: new Map(),
  references: new Map(),
  dependencies: new Set(),
  events: new Map(),
  accepted: 0,
  refused: 0,
  reads: 0,
});

/** The database that a request finds, which may be late: it asked a moment before. */
export async function shardOf(repoId: number): Promise<number> {
  const [row] = await directory.all<{ shard: number }>(
    sql`select shard from repositories where id = ${repoId}`,
  );
  return row?.shard ?? 0;
}

/** References that lead out of the network or into it. A page of rows that has a new one is copied twice. */
const OUTSIDE_MAX = 30;

/**
 * Writers of a network: each write is one batch, as the service makes them, of what is there by then.
 *
 * @param stranger A repository of the source that does not move, to whose issues those of the network refer, and the other way round.
 */
export function writersOf(
  { repo, fork, owner, other }: Network,
  draw: (below: number) => number,
  journal: Journal,
  stranger?: Repository,
) {
  const some = (table: string, where: SQL, key = "id") => sql`(
    select ${sql.identifier(key)} from ${sql.identifier(table)} where ${where}
    order by (${sql.identifier(key)} * 7919 + ${draw(10_007)}) % 10007 limit 1
  )`;
  const write = async (
    shard: number,
    statements: readonly SQL[],
    then: (results: unknown[][]) => void,
  ) => {
    const db = shardDatabase(shard);
    let results: unknown[][];
    try {
      results = await db.batch(statements.map((statement) => db.textStatement(statement)) as never);
    } catch (error) {
      if (!isMoving(error)) throw error;
      journal.refused += 1;
      return;
    }
    journal.accepted += 1;
    if (told) journal.events.set(...told);
    then(results);
  };
  /** The event of the next write. */
  let told: [number, number] | undefined;
  const event = (repoId: number) => {
    told = [fresh(), repoId];
    return sql`
      insert into events (
        type, actor_id, owner_id, repo_id, visibility, is_private, payload, created_at
      ) values (
        'comment.created', ${owner.id}, ${owner.id}, ${repoId}, 'public', 0,
        ${JSON.stringify({ serial: told[0] })}, 1
      )`;
  };

  const kinds: ((shard: number, repoId: number) => Promise<void>)[] = [
    (shard, repoId) => {
      const body = `comment ${fresh()}`;
      return write(
        shard,
        [
          sql`insert into timeline_entries (repo_id, issue_id, kind, poster_id, body, created_at, updated_at)
            values (${repoId}, ${some("issues", sql`repo_id = ${repoId}`)}, 'comment', ${other.id}, ${body}, 1, 1)`,
          event(repoId),
        ],
        () => journal.comments.set(body, repoId),
      );
    },
    (shard, repoId) => {
      const of = [...journal.comments].filter(([, id]) => id === repoId);
      const [body] = of[draw(Math.max(1, of.length))] ?? [];
      if (body === undefined) return Promise.resolve();
      return write(
        shard,
        [sql`delete from timeline_entries where body = ${body}`, event(repoId)],
        () => journal.comments.delete(body),
      );
    },
    (shard, repoId) =>
      write(
        shard,
        [
          sql`update repositories set last_issue_number = last_issue_number + 1 where id = ${repoId}`,
          sql`insert into issues (repo_id, number, title, poster_id, created_at, updated_at)
            select id, last_issue_number + 1000, 'new', ${other.id}, 1, 1 from repositories where id = ${repoId}`,
          event(repoId),
        ],
        () => undefined,
      ),
    (shard, repoId) =>
      write(
        shard,
        [
          sql`update issues set is_closed = not is_closed where id = ${some("issues", sql`repo_id = ${repoId}`)}`,
          event(repoId),
        ],
        () => undefined,
      ),
    // A milestone that is newer than what refers to it, and one that goes with references to it.
    (shard, repoId) =>
      write(
        shard,
        [
          sql`insert into milestones (repo_id, title, created_at, updated_at) values (${repoId}, 'm', 1, 1)`,
          sql`update issues set milestone_id = (select max(id) from milestones where repo_id = ${repoId})
            where id = ${some("issues", sql`repo_id = ${repoId}`)}`,
        ],
        () => undefined,
      ),
    (shard, repoId) =>
      write(
        shard,
        [
          sql`delete from milestones where id = ${some("milestones", sql`repo_id = ${repoId}`)}
            and (select count(*) from milestones where repo_id = ${repoId}) > 1`,
        ],
        () => undefined,
      ),
    // Two releases exchange their tags.
    (shard, repoId) =>
      write(
        shard,
        [
          sql`insert or ignore into releases (repo_id, tag_name, lower_tag_name, target, created_at)
            values (${repoId}, 'a', 'a', '', 1), (${repoId}, 'b', 'b', '', 1)`,
          ...[
            ["a", "c"],
            ["b", "a"],
            ["c", "b"],
          ].map(
            ([from, to]) => sql`
            update releases set lower_tag_name = ${to} where repo_id = ${repoId} and lower_tag_name = ${from}`,
          ),
        ],
        () => undefined,
      ),
    (shard, repoId) =>
      write(
        shard,
        [
          sql`insert or ignore into issue_labels (issue_id, label_id, repo_id, is_pull, is_closed)
            select i.id, (select id from labels where repo_id = ${repoId}), i.repo_id, i.is_pull, i.is_closed
            from issues i where i.id = ${some("issues", sql`repo_id = ${repoId}`)}`,
        ],
        () => undefined,
      ),
    (shard, repoId) =>
      write(
        shard,
        [
          sql`delete from issue_labels where repo_id = ${repoId}
            and issue_id = ${some("issue_labels", sql`repo_id = ${repoId}`, "issue_id")}`,
        ],
        () => undefined,
      ),
    // What a push writes.
    (shard, repoId) =>
      write(
        shard,
        [
          sql`update repositories set size_bytes = size_bytes + 1, is_empty = 0 where id = ${repoId}`,
        ],
        () => undefined,
      ),
  ];

  // Finds nothing where the two are not in this database.
  const pairs = (repoId: number): readonly (readonly [SQL, SQL])[] => {
    const made = journal.references.size + journal.dependencies.size;
    if (!stranger || made >= OUTSIDE_MAX) return [];
    const near = some("issues", sql`repo_id = ${repoId}`);
    const far = some("issues", sql`repo_id = ${stranger.id}`);
    return [
      [near, far],
      [far, near],
    ];
  };
  const outside: typeof kinds = [
    (shard, repoId) => {
      const [issue, otherIssue] = pairs(repoId)[draw(2)] ?? [];
      if (!issue || !otherIssue) return Promise.resolve();
      const body = `reference ${fresh()}`;
      return write(
        shard,
        [
          sql`insert into timeline_entries (repo_id, issue_id, kind, other_issue_id, body, created_at, updated_at)
            select i.repo_id, i.id, 'issue_ref', o.id, ${body}, 1, 1
            from issues i join issues o on o.id = ${otherIssue} where i.id = ${issue} returning repo_id`,
        ],
        ([rows]) => {
          const [row] = rows ?? [];
          if (row) journal.references.set(body, (row as { repo_id: number }).repo_id);
        },
      );
    },
    (shard, repoId) => {
      const [issue, blocker] = pairs(repoId)[draw(2)] ?? [];
      if (!issue || !blocker) return Promise.resolve();
      // As the service, it looks for both forms.
      return write(
        shard,
        [
          sql`insert into issue_dependencies (issue_id, blocker_id, created_at)
            select i.id, o.id, 1 from issues i join issues o on o.id = ${blocker}
            where i.id = ${issue}
              and not exists (select 1 from issue_dependencies where issue_id = i.id and blocker_id = o.id)
              and not exists (select 1 from cross_shard_dependencies where issue_id = i.id and blocker_id = o.id)
            returning issue_id, blocker_id`,
        ],
        ([rows]) => {
          const [row] = rows ?? [];
          if (row) journal.dependencies.add(Object.values(row).join(","));
        },
      );
    },
  ];
  if (stranger) kinds.push(...outside);

  /** The database of a request that has begun, and writes later. */
  let late: { shard: number; repoId: number } | undefined;
  return {
    /** Makes one write, at times in the database that was the right one a while ago. */
    async write(): Promise<void> {
      const repoId = draw(3) === 0 ? fork.id : repo.id;
      const now = { shard: await shardOf(repoId), repoId };
      const at = late && draw(2) === 0 ? late : now;
      if (!late || draw(3) === 0) late = now;
      told = undefined;
      await kinds[draw(kinds.length)]?.(at.shard, at.repoId);
    },
    /** Records an event of a repository that does not move. */
    async writeBeside({ shard, id }: Repository): Promise<void> {
      await write(shard, [event(id)], () => undefined);
    },
    /** Reads a list, which has all comments that were accepted. */
    async read(): Promise<{ found: string[]; expected: string[] }> {
      const db = shardDatabase(await shardOf(repo.id));
      const rows = await db.all<{ body: string }>(sql`
        select body from timeline_entries where repo_id = ${repo.id} and body glob 'comment *'`);
      journal.reads += 1;
      const expected = [...journal.comments].flatMap(([body, id]) =>
        id === repo.id ? [body] : [],
      );
      return { found: rows.map(({ body }) => body).toSorted(), expected: expected.toSorted() };
    },
  };
}
