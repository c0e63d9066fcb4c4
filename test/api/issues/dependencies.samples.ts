import { and, eq } from "drizzle-orm";

import { issueDependencies, type Issue } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { makeIssue } from "../../support/issues.ts";
import { defineSamples, undoneBy } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

type Part = "blockers" | "blocked" | "dependencies" | "blocks";

/** Other issues of the repositories of worlds; an undo is about the same one. */
const others = new WeakMap<World, Partial<Record<Part, Promise<Issue>>>>();

async function otherOf(world: World, part: Part): Promise<Issue> {
  const known = others.get(world) ?? {};
  others.set(world, known);
  known[part] ??= world.repo().then((repo) => makeIssue(repo));
  return known[part];
}

/** A request about the world's issue and another one, which are linked before it, or are not. */
async function requestOf(world: World, part: "dependencies" | "blocks", isLinked: boolean) {
  const { owner, repo, index } = await world.issuePath();
  const { id } = await world.issue();
  const other = await otherOf(world, part);
  const [issueId, blockerId] = part === "blocks" ? [other.id, id] : [id, other.id];
  await db
    .delete(issueDependencies)
    .where(and(eq(issueDependencies.issueId, issueId), eq(issueDependencies.blockerId, blockerId)));
  if (isLinked) await db.insert(issueDependencies).values({ issueId, blockerId, createdAt: 1000 });
  return { path: { owner, repo, index }, json: { owner, repo, index: other.number } };
}

/** A list of one issue: each list links the world's issue with an issue of its own. */
async function listOf(world: World, part: "blockers" | "blocked") {
  const { id } = await world.issue();
  const other = await otherOf(world, part);
  const [issueId, blockerId] = part === "blocked" ? [other.id, id] : [id, other.id];
  const link = { issueId, blockerId, createdAt: 1000 };
  await db.insert(issueDependencies).values(link).onConflictDoNothing();
  return { path: await world.issuePath() };
}

export const samples = defineSamples({
  issueListIssueDependencies: { request: (world) => listOf(world, "blockers") },
  issueCreateIssueDependencies: {
    request: (world) => requestOf(world, "dependencies", false),
    announces: undoneBy("issueRemoveIssueDependencies", "issue.dependency_added"),
  },
  issueRemoveIssueDependencies: {
    request: (world) => requestOf(world, "dependencies", true),
    announces: undoneBy("issueCreateIssueDependencies", "issue.dependency_removed"),
  },
  issueListBlocks: { request: (world) => listOf(world, "blocked") },
  issueCreateIssueBlocking: {
    request: (world) => requestOf(world, "blocks", false),
    announces: undoneBy("issueRemoveIssueBlocking", "issue.dependency_added"),
  },
  issueRemoveIssueBlocking: {
    request: (world) => requestOf(world, "blocks", true),
    announces: undoneBy("issueCreateIssueBlocking", "issue.dependency_removed"),
  },
});
