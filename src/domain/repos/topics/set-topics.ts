import { and, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { repositories, repositoryTopics, topics } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { readTopicNames, tooMany, TOPICS_MAX } from "./topic-name.ts";

/**
 * Replaces the topics of a repository. Idempotent.
 *
 * @throws Failure `invalid` for invalid names, or too many of them.
 */
export async function setTopics(
  ctx: Ctx,
  repo: RepositoryContext,
  names: readonly string[],
): Promise<void> {
  const topicNames = readTopicNames(names);
  await change(ctx, repo, topicNames, sql`not in ${idsOf(topicNames)}`);
}

/**
 * Adds a topic to a repository. Idempotent.
 *
 * @throws Failure `invalid` for an invalid name, and for a repository with the maximum number of
 * topics; `not_found` for an empty name.
 */
export async function addTopic(ctx: Ctx, repo: RepositoryContext, name: string): Promise<void> {
  const [topic] = readTopicNames([name]);
  if (topic === undefined) throw notFound();
  await change(ctx, repo, [topic], sql`in (select 1 where 0)`);
}

/** @throws Failure `not_found` if the repository does not have the topic. */
export async function removeTopic(ctx: Ctx, repo: RepositoryContext, name: string): Promise<void> {
  const [topic] = readTopicNames([name]);
  if (topic === undefined || !repo.row.topics.includes(topic)) throw notFound();
  if (!(await change(ctx, repo, [], sql`in ${idsOf([topic])}`))) throw notFound();
}

/**
 * @param isRemoved The condition on the id of a topic that the repository has and that is removed.
 * @returns Whether the repository had other topics before.
 */
async function change(
  ctx: Ctx,
  { row, owner }: RepositoryContext,
  added: readonly string[],
  isRemoved: SQL,
): Promise<boolean> {
  const { db, now } = ctx;
  const isOfRepository = eq(repositoryTopics.repoId, row.id);
  const names = JSON.stringify(added);
  // The number of other topics at the time of the write: over the maximum, the inserted topic id is
  // null, which the column refuses.
  const others = sql`(
    select count(*)
    from ${repositoryTopics}
    where repo_id = r.id and topic_id <> t.id and not topic_id ${isRemoved}
  )`;
  const current = sql`(
    select json_group_array(name)
    from (
      select t.name
      from ${repositoryTopics} rt
      join ${topics} t on t.id = rt.topic_id
      where rt.repo_id = ${row.id}
      order by t.name
    )
  )`;
  try {
    const { changed } = await batch(db, {
      topics: insertSelect(
        db,
        topics,
        { name: sql`value`, createdAt: now, updatedAt: now },
        sql`from json_each(${names}) where true`,
      ).onConflictDoUpdate({ target: topics.name, set: { updatedAt: now } }),
      added: insertSelect(
        db,
        repositoryTopics,
        {
          repoId: sql`r.id`,
          topicId: onlyWhile(sql`${others} < ${TOPICS_MAX}`, sql`t.id`),
          visibility: sql`r.visibility`,
        },
        sql`
          from ${repositories} r
          join ${topics} t on t.name in (select value from json_each(${names}))
          where r.id = ${row.id}`,
      ).onConflictDoNothing(),
      removed: db
        .delete(repositoryTopics)
        .where(and(isOfRepository, sql`${repositoryTopics.topicId} ${isRemoved}`)),
      changed: db
        .update(repositories)
        .set({ topics: current })
        .where(and(eq(repositories.id, row.id), sql`${repositories.topics} <> ${current}`))
        .returning({ id: repositories.id }),
      event: recordIfChanged(ctx, {
        type: "repository.topics_changed",
        repoId: row.id,
        ownerId: owner.id,
      }),
    });
    return changed.length > 0;
  } catch (error) {
    if (isViolation(error, "NOT NULL", "repository_topics.topic_id")) throw tooMany(added);
    throw error;
  }
}

const idsOf = (names: readonly string[]): SQL => sql`(
  select id from ${topics} where name in (select value from json_each(${JSON.stringify(names)}))
)`;
