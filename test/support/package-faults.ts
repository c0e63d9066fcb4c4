import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect } from "vitest";

import { packageBlobs, packageFiles, packageVersions } from "../../src/db/schema/index.ts";
import { removeLooseBlobs } from "../../src/domain/packages/package/remove-loose-blobs.ts";
import { db } from "./db.ts";
import { failCalls, failing, serveFailing } from "./faults.ts";
import { make, type TestUser } from "./make.ts";
import { systemCtx } from "./system.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The keys of all files of packages in the bucket, which other tests fill with more than a page.
 */
export async function listStored(): Promise<string[]> {
  const keys: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await env.PACKS.list({ prefix: "packages/", ...(cursor && { cursor }) });
    keys.push(...page.objects.map(({ key }) => key));
    if (!page.truncated) return keys;
    ({ cursor } = page);
  }
}

/** Counts the files in the bucket after the job has removed those that nothing refers to. */
async function countObjects(): Promise<number> {
  await removeLooseBlobs(systemCtx({}, Date.now() + 2 * DAY_MS));
  return (await listStored()).length;
}

/**
 * Publishes once for each storage call of the upload and each way in which that one can fail: each
 * time the files are listed whole or not at all, and the bucket has the listed contents and no
 * others.
 *
 * @param publish Sends the upload of a fresh owner by `serve`.
 * @param files How many files a complete upload lists.
 * @returns How many files were listed, each number once: none and all of them.
 */
export async function listWholeOrNothing(
  publish: (
    owner: TestUser,
    serve: (request: Request) => Promise<Response | undefined>,
  ) => Promise<Response | undefined>,
  files: number,
): Promise<number[]> {
  const outcomes = new Set<number>();
  const calls = await failCalls(async (fault) => {
    const owner = await make.user();
    const before = await countObjects();
    const faults = failing(fault);
    const answer = await publish(owner, (request) => serveFailing(request, faults.bindings));
    const after = await countObjects();
    const rows = await db
      .select()
      .from(packageFiles)
      .innerJoin(packageVersions, eq(packageVersions.id, packageFiles.versionId))
      .where(eq(packageVersions.ownerId, owner.id));
    const blobs = await db.select().from(packageBlobs).where(eq(packageBlobs.ownerId, owner.id));
    expect(after - before).toBe(blobs.length);
    expect(rows.length).toBeGreaterThanOrEqual(answer?.ok ? files : 0);
    outcomes.add(rows.length);
    return faults;
  });
  expect(calls).toBeGreaterThan(3);
  return [...outcomes].toSorted((a, b) => a - b);
}

/** A request of an owner with his token. */
export const requestOf = (
  { token }: TestUser,
  method: string,
  path: string,
  body: BodyInit,
): Request =>
  new Request(`https://forge.example${path}`, {
    method,
    body,
    headers: { Authorization: `token ${token}` },
  });
