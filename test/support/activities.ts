import { events, type User } from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";
import type { TestRepo } from "./make.ts";

let lastAt = Date.now() - 1_000_000;

/**
 * Inserts an event of a repository. By default, each event is created one second after the previous
 * one.
 *
 * @param dispatchAt When the event is due for dispatch to hooks, in milliseconds; null for never.
 */
export async function recordEvent(
  repo: TestRepo,
  actor: Pick<User, "id">,
  type = "repository.created",
  payload: Record<string, unknown> = { name: repo.name },
  createdAt = (lastAt += 1000),
  dispatchAt: number | null = null,
): Promise<number> {
  const rows = await db
    .insert(events)
    .values({
      type,
      actorId: actor.id,
      ownerId: repo.ownerId,
      repoId: repo.id,
      visibility: repo.isPrivate ? "private" : "public",
      isPrivate: repo.isPrivate,
      payload,
      createdAt,
      dispatchAt,
    })
    .returning();
  return only(rows).id;
}

/**
 * The payload of a push that updates `refs`; the suffix ` gone` marks a ref that the push deletes.
 */
export const pushOf = (...refs: string[]): Record<string, unknown> => ({
  pushId: crypto.randomUUID(),
  part: 0,
  refCount: refs.length,
  updates: refs.map((text) => {
    const [ref, word] = text.split(" ");
    const oid = "1".repeat(40);
    return { ref, before: word === "gone" ? oid : null, after: word === "gone" ? null : oid };
  }),
});
