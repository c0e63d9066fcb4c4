import { makeIssue } from "../../support/issues.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";
import { issueDependencies } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";

/** A request about the world's issue and another one of the same repository. */
const requestOf = async (world: World, direction?: "blocked" | "blocks") => {
  const { repo: name, owner, index } = await world.issuePath();
  const { id } = await world.issue();
  const other = await makeIssue(await world.repo());
  const [issueId, blockerId] = direction === "blocks" ? [other.id, id] : [id, other.id];
  if (direction) await db.insert(issueDependencies).values({ issueId, blockerId, createdAt: 1000 });
  return { path: { owner, repo: name, index }, json: { owner, repo: name, index: other.number } };
};
const listOf = async (world: World, direction: "blocked" | "blocks") => {
  const { path } = await requestOf(world, direction);
  return { path };
};

export const samples = defineSamples({
  issueListIssueDependencies: { request: (world) => listOf(world, "blocked") },
  issueCreateIssueDependencies: {
    request: (world) => requestOf(world),
    announces: once("issue.dependency_added"),
  },
  issueRemoveIssueDependencies: {
    request: (world) => requestOf(world, "blocked"),
    announces: once("issue.dependency_removed"),
  },
  issueListBlocks: { request: (world) => listOf(world, "blocks") },
  issueCreateIssueBlocking: {
    request: (world) => requestOf(world),
    announces: once("issue.dependency_added"),
  },
  issueRemoveIssueBlocking: {
    request: (world) => requestOf(world, "blocks"),
    announces: once("issue.dependency_removed"),
  },
});
