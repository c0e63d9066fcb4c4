import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  packageBlobs,
  packageLooseFiles,
  packages,
  packageUsage,
  packageVersions,
} from "../../../src/db/schema/index.ts";
import { removeLooseBlobs } from "../../../src/domain/packages/package/remove-loose-blobs.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import { listStored, listWholeOrNothing, requestOf } from "../../support/package-faults.ts";
import { doorsWith } from "../../support/service.ts";
import { systemCtx } from "../../support/system.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const at = ({ name }: { name: string }, path: string): string =>
  `/api/packages/${name}/generic/${path}`;

/** Files of packages in the bucket, after the job has removed those that nothing refers to. */
async function countFiles(): Promise<number> {
  await removeLooseBlobs(systemCtx({}, Date.now() + 2 * DAY_MS));
  return (await listStored()).length;
}

const contentsOf = async ({ id }: TestUser) => ({
  packages: (await db.select().from(packages).where(eq(packages.ownerId, id))).length,
  versions: (await db.select().from(packageVersions).where(eq(packageVersions.ownerId, id))).length,
  blobs: (await db.select().from(packageBlobs).where(eq(packageBlobs.ownerId, id))).length,
  usage: await db.select().from(packageUsage).where(eq(packageUsage.ownerId, id)),
});

describe("the limits of packages", () => {
  it.each([
    ["PACKAGES_LIMIT_TOTAL_OWNER_COUNT", "1", "other/1/a", "x"],
    ["PACKAGES_LIMIT_TOTAL_OWNER_COUNT", "1", "tool/2/a", "x"],
    ["PACKAGES_LIMIT_TOTAL_OWNER_SIZE", "10", "tool/1/b", "123456"],
    ["PACKAGES_LIMIT_SIZE_GENERIC", "5", "tool/1/b", "123456"],
  ])("refuse what is beyond %s = %s, and leave nothing of %s", async (name, value, path, body) => {
    const owner = await make.user();
    const limited = doorsWith({ [name]: value });
    const put = (file: string, bytes: string) =>
      limited("PUT", at(owner, file), { as: owner, body: bytes });
    expect((await put("tool/1/a", "12345")).status).toBe(201);
    const [before, files] = [await contentsOf(owner), await countFiles()];
    const refused = await put(path, body);
    expect(refused.status).toBe(403);
    expect(await contentsOf(owner)).toEqual(before);
    expect(await countFiles()).toBe(files);
    expect((await limited("GET", at(owner, path))).status).toBe(404);
  });

  it("count a content once, and a file of a version that exists not at all", async () => {
    const owner = await make.user();
    const limited = doorsWith({
      PACKAGES_LIMIT_TOTAL_OWNER_COUNT: "1",
      PACKAGES_LIMIT_TOTAL_OWNER_SIZE: "5",
    });
    const put = (file: string) => limited("PUT", at(owner, file), { as: owner, body: "12345" });
    expect((await put("tool/1/a")).status).toBe(201);
    expect((await put("tool/1/b")).status).toBe(201);
    expect((await limited("DELETE", at(owner, "tool/1"), { as: owner })).status).toBe(204);
    expect((await put("tool/2/a")).status).toBe(201);
  });

  // Both find room when they come; one batch after the other writes.
  it("hold for two uploads at once", async () => {
    const owner = await make.user();
    const limited = doorsWith({ PACKAGES_LIMIT_TOTAL_OWNER_COUNT: "1" });
    const answers = await Promise.all(
      ["1", "2", "3"].map((version) =>
        limited("PUT", at(owner, `tool/${version}/a`), { as: owner, body: version }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 403, 403]);
    expect(await contentsOf(owner)).toMatchObject({ versions: 1, blobs: 1 });
  });

  it("of nothing leave no registry", async () => {
    const owner = await make.user();
    const off = doorsWith({ PACKAGES_ENABLED: "false" });
    expect((await off("PUT", at(owner, "tool/1/a"), { as: owner, body: "x" })).status).toBe(404);
    expect((await off("GET", `/api/v1/packages/${owner.name}`, { as: owner })).status).toBe(404);
    expect(await contentsOf(owner)).toMatchObject({ packages: 0, blobs: 0 });
  });
});

describe("an upload", () => {
  it("that fails at any call is listed whole or not at all", { timeout: 300_000 }, async () => {
    const listed = await listWholeOrNothing(
      (owner, serve) => serve(requestOf(owner, "PUT", at(owner, "tool/1.0/a"), "some bytes")),
      1,
    );
    expect(listed).toEqual([0, 1]);
  });

  it("of one file by several at once is published by one of them", async () => {
    const owner = await make.user();
    const answers = await Promise.all(
      ["first", "second", "third"].map((body) =>
        visit("PUT", at(owner, "tool/1/a"), { as: owner, body }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
    const kept = await visit("GET", at(owner, "tool/1/a"));
    expect(answers[["first", "second", "third"].indexOf(String(kept.body))]?.status).toBe(201);
    expect(await contentsOf(owner)).toMatchObject({ versions: 1, blobs: 1 });
  });

  it("that did not end, and a deleted content, are removed from the bucket by the job", async () => {
    const owner = await make.user();
    await visit("PUT", at(owner, "tool/1/a"), { as: owner, body: "to be deleted" });
    const [blob] = await db.select().from(packageBlobs).where(eq(packageBlobs.ownerId, owner.id));
    const key = (await listStored()).find((each) => each.includes(blob?.uuid ?? "-"));
    expect(key).toBeDefined();
    expect((await visit("DELETE", at(owner, "tool/1"), { as: owner })).status).toBe(204);
    await countFiles();
    expect(await env.PACKS.head(key ?? "")).toBeNull();
    const isNoted = eq(packageLooseFiles.uuid, blob?.uuid ?? "");
    expect(await db.select().from(packageLooseFiles).where(isNoted)).toEqual([]);
  });
});
