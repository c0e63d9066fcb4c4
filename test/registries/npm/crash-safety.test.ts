import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  events,
  packageBlobs,
  packageLooseFiles,
  packageProperties,
  packages,
  packageVersions,
} from "../../../src/db/schema/index.ts";
import { removeLooseBlobs } from "../../../src/domain/packages/package/remove-loose-blobs.ts";
import { db } from "../../support/db.ts";
import { failCalls, failing, serveFailing } from "../../support/faults.ts";
import { freshName, make } from "../../support/make.ts";
import { systemCtx } from "../../support/system.ts";
import { listStored } from "../../support/package-faults.ts";
import { makePublication, registryPath } from "./documents.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const PREFIX = "packages/";

const storedUuids = async (): Promise<string[]> =>
  (await listStored()).map((key) => key.slice(PREFIX.length));

/** A publication, and what is left of it once the schedule has removed what nothing refers to. */
async function makeUpload() {
  const owner = await make.user();
  const name = freshName("tool");
  const earlier = new Set(await storedUuids());
  const body = JSON.stringify(await makePublication(name, "1.0.0"));
  const request = (content: BodyInit = body): Request =>
    new Request(`https://forge.example${registryPath(owner, name)}`, {
      method: "PUT",
      headers: { Authorization: `token ${owner.token}` },
      body: content,
    });
  const settle = async () => {
    await removeLooseBlobs(systemCtx({}, Date.now() + 2 * DAY_MS));
    const versions = await db
      .select()
      .from(packageVersions)
      .where(eq(packageVersions.ownerId, owner.id));
    const blobs = await db.select().from(packageBlobs).where(eq(packageBlobs.ownerId, owner.id));
    const [pkg] = await db.select().from(packages).where(eq(packages.ownerId, owner.id));
    const tags = await db
      .select()
      .from(packageProperties)
      .where(eq(packageProperties.packageId, pkg?.id ?? 0));
    const created = await db
      .select()
      .from(events)
      .where(and(eq(events.type, "package.created"), eq(events.actorId, owner.id)));
    const stored = (await storedUuids()).filter((uuid) => !earlier.has(uuid));
    const loose = (await db.select().from(packageLooseFiles)).filter(({ uuid }) =>
      stored.includes(uuid),
    );
    return { versions, blobs, pkg, tags, created, stored, loose };
  };
  return { request, settle, body };
}

describe("a publication", { timeout: 180_000 }, () => {
  it("is there whole or not at all, whichever call fails, and if the Worker dies at it", async () => {
    const outcomes = new Set<number>();
    const calls = await failCalls(async (fault) => {
      const { request, settle } = await makeUpload();
      const faults = failing(fault);
      const answer = await serveFailing(request(), faults.bindings);
      const { versions, blobs, pkg, tags, created, stored, loose } = await settle();
      expect(stored).toEqual(blobs.map(({ uuid }) => uuid));
      expect(loose).toEqual([]);
      expect(versions.length).toBeGreaterThanOrEqual(answer?.status === 201 ? 1 : 0);
      for (const each of [blobs, tags, created, pkg ? [pkg] : []]) {
        expect(each).toHaveLength(versions.length);
      }
      outcomes.add(versions.length);
      return faults;
    });
    expect(calls).toBeGreaterThan(3);
    expect(outcomes).toEqual(new Set([0, 1]));
  });

  it("of a client that hangs up leaves nothing", async () => {
    const { request, settle, body } = await makeUpload();
    const half = new TextEncoder().encode(body.slice(0, -40));
    let isSent = false;
    const stream = new ReadableStream({
      type: "bytes",
      pull(controller) {
        if (isSent) return controller.error(new Error("the client left"));
        isSent = true;
        return controller.enqueue(half.slice());
      },
    });
    const answer = await serveFailing(request(stream), {});
    expect(answer?.status).not.toBe(201);
    expect(await settle()).toMatchObject({ versions: [], stored: [], loose: [] });
  });
});
