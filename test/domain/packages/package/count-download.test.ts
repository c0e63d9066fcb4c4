import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { packageVersions } from "../../../../src/db/schema/index.ts";
import { countPackageDownload } from "../../../../src/domain/packages/package/count-download.ts";
import type { Ctx } from "../../../../src/context.ts";
import { visit } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { failing } from "../../../support/faults.ts";
import { freshName, make } from "../../../support/make.ts";
import { makePackage } from "../../../support/packages.ts";
import { systemCtx } from "../../../support/system.ts";

const countOf = async (versionId: number): Promise<number | undefined> => {
  const [row] = await db
    .select({ count: packageVersions.downloadCount })
    .from(packageVersions)
    .where(eq(packageVersions.id, versionId));
  return row?.count;
};

/** A context that gathers for some seconds, and what it defers. */
function gathering(seconds: string, bindings: Partial<Env> = {}) {
  const deferred: Promise<unknown>[] = [];
  const settings = { PACKAGES_DOWNLOAD_COUNT_SECONDS: seconds };
  const ctx: Ctx = {
    ...systemCtx(bindings, Date.now(), settings),
    defer: (work) => void deferred.push(work),
  };
  return { ctx, deferred };
}

async function makeVersion(): Promise<number> {
  const { versions } = await makePackage(await make.user());
  return versions[0]?.id ?? 0;
}

describe("downloads of packages", () => {
  it("are counted once for each file that is sent from its start", async () => {
    const owner = await make.user();
    const path = `/api/packages/${owner.name}/generic/${freshName("tool")}/1.0/a`;
    expect((await visit("PUT", path, { as: owner, body: "bytes" })).status).toBe(201);
    expect((await visit("GET", path)).status).toBe(200);
    const [version] = await db
      .select({ id: packageVersions.id })
      .from(packageVersions)
      .where(eq(packageVersions.ownerId, owner.id));
    await expect.poll(() => countOf(version?.id ?? 0)).toBe(1);
    // The rest of a file that somebody continues is no other download.
    await visit("GET", path, { headers: { Range: "bytes=2-" } });
    await visit("HEAD", path);
    await visit("GET", path);
    await expect.poll(() => countOf(version?.id ?? 0)).toBe(2);
  });

  it("are all counted, two hundred at once by few writes", async () => {
    const versionId = await makeVersion();
    const { ctx, deferred } = gathering("1");
    for (let at = 0; at < 200; at++) countPackageDownload(ctx, versionId);
    expect(deferred.length).toBeLessThanOrEqual(1);
    await Promise.all(deferred);
    await expect.poll(() => countOf(versionId), { timeout: 5000 }).toBe(200);
  });

  it("wait for the next write if one fails", async () => {
    const versionId = await makeVersion();
    const faults = failing({ at: 0, isDone: false, isDeath: false });
    const { ctx, deferred } = gathering("0", faults.bindings);
    countPackageDownload(ctx, versionId);
    await Promise.all(deferred);
    expect(faults.hasFailed()).toBe(true);
    expect(await countOf(versionId)).toBe(0);
    const next = gathering("0");
    countPackageDownload(next.ctx, versionId);
    await Promise.all(next.deferred);
    await expect.poll(() => countOf(versionId)).toBe(2);
  });

  it("are counted again after a request was cut off before it wrote", async () => {
    const versionId = await makeVersion();
    const { ctx } = gathering("0");
    // The runtime ends the request: what it deferred never runs.
    const cutOff: Ctx = { ...ctx, db: undefined as unknown as Ctx["db"] };
    countPackageDownload(cutOff, versionId);
    const next = gathering("0");
    await expect
      .poll(async () => {
        countPackageDownload(next.ctx, versionId);
        await Promise.all(next.deferred);
        return countOf(versionId);
      })
      .toBeGreaterThan(1);
  });
});
