import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";

import { repositories } from "../../src/db/schema/index.ts";
import { type ByteText, decodeText, readByteText } from "../../src/git/byte-text.ts";
import { hashObject } from "../../src/git/object/hash-object.ts";
import { parseCommit } from "../../src/git/object/commit.ts";
import { parseTree } from "../../src/git/object/tree.ts";
import { codec } from "../../src/storage/codec.ts";
import type { RepositoryLocation } from "../../src/storage/repository-records.ts";
import { only } from "../../src/lib/only.ts";
import { edgeCache } from "../../src/storage/edge-cache.ts";
import { GitStorage } from "../../src/storage/storage.ts";
import { db } from "./db.ts";

/** The same storage that the Worker uses. */
export const git = new GitStorage(env.PACKS, env.REPOSITORY, env.STORAGE_JOBS, edgeCache);

/** The storage location of a repository. */
export async function placeOf(repoId: number): Promise<RepositoryLocation> {
  const { objectName, networkName } = repositories;
  const rows = await db
    .select({ objectName, networkName })
    .from(repositories)
    .where(eq(repositories.id, repoId));
  return only(rows);
}

/**
 * Reads a branch from storage: its commit, and the text of the files in its root directory by name.
 */
export async function readBranch(repoId: number, branch: string) {
  const stored = git.repository(await placeOf(repoId));
  const snapshot = await stored.snapshot();
  const { objects } = await stored.open(snapshot);
  const read = async (oid: string) => {
    const found = await objects.readObject(oid);
    if (!found) throw new Error(`${oid} does not exist`);
    return found.content;
  };
  const ref = snapshot.refs.find(({ name }) => text(name) === `refs/heads/${branch}`);
  if (!ref) throw new Error(`there is no branch ${branch}`);
  const commit = parseCommit(await read(ref.oid));
  const files: Record<string, string> = {};
  for (const { name, oid } of parseTree(await read(commit.treeOid))) {
    files[text(name)] = text(readByteText(await read(oid)));
  }
  return { oid: ref.oid, head: snapshot.head, commit, files };
}

const text = (bytes: string): string => decodeText(bytes as ByteText);

/**
 * Reads every object reachable from the refs of a repository, as `git fsck` does: each object must
 * exist and match its id. Returns the number of objects.
 */
export async function readAllObjects(location: RepositoryLocation): Promise<number> {
  const stored = git.repository(location);
  const snapshot = await stored.snapshot();
  const { objects } = await stored.open(snapshot);
  const seen = new Set<string>();
  const waiting = snapshot.refs.map(({ oid }) => oid);
  for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
    if (seen.has(oid)) continue;
    seen.add(oid);
    const found = await objects.readObject(oid);
    if (!found) throw new Error(`${oid} is missing`);
    if (hashObject(found.kind, found.content, codec) !== oid) throw new Error(`${oid} is damaged`);
    if (found.kind === "commit") {
      const { treeOid, parentOids } = parseCommit(found.content);
      waiting.push(treeOid, ...parentOids);
    } else if (found.kind === "tree") {
      waiting.push(...parseTree(found.content).map((entry) => entry.oid));
    }
  }
  return seen.size;
}
