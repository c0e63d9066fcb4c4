import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { packages, packageVersions, type Package } from "../../src/db/schema/index.ts";
import { visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { make, type TestUser } from "../support/make.ts";
import { makePackage } from "../support/packages.ts";
import { logged } from "../support/usage.ts";

const pathOf = (owner: TestUser): string => `/api/packages/${owner.name}/pypi/simple/`;

/**
 * The rows that a request for the index over all of an owner's projects reads, when it is in the
 * cache.
 */
async function rowsRead(owner: TestUser, as?: TestUser): Promise<number> {
  await visit("GET", pathOf(owner), as && { as });
  const { answer, line } = await logged(() => visit("GET", pathOf(owner), as && { as }));
  expect(answer.status).toBe(200);
  expect(line.d1RowsRead).toBeGreaterThan(0);
  return line.d1RowsRead;
}

const tagOf = async (owner: TestUser, as?: TestUser): Promise<string | null> =>
  (await visit("GET", pathOf(owner), as && { as })).headers.get("ETag");

const addVersion = ({ id, ownerId, type }: Package) =>
  db.insert(packageVersions).values({
    packageId: id,
    ownerId,
    type,
    version: "2.0",
    versionKey: "2.0",
    createdAt: 1000,
  });

async function link(owner: TestUser, isPrivate: boolean, count: number): Promise<Package[]> {
  const repo = await make.repo(owner, { isPrivate });
  const made: Package[] = [];
  for (let at = 0; at < count; at++) {
    const pkg = await makePackage(owner, { type: "pypi" });
    await db.update(packages).set({ repoId: repo.id }).where(eq(packages.id, pkg.id));
    made.push(pkg);
  }
  return made;
}

describe("an index over all packages of an owner", () => {
  it("reads no row for each package that is linked to a public repository", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    await link(owner, false, 1);
    const readers = [undefined, other, owner];
    const few: number[] = [];
    for (const reader of readers) few.push(await rowsRead(owner, reader));
    await link(owner, false, 30);
    for (const [at, reader] of readers.entries()) {
      expect(await rowsRead(owner, reader)).toBeLessThanOrEqual((few[at] ?? 0) + 2);
    }
  });

  it("reads no row for each hidden package for those who have no grant", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    await makePackage(owner, { type: "pypi" });
    const few = [await rowsRead(owner), await rowsRead(owner, other)];
    await link(owner, true, 30);
    const many = [await rowsRead(owner), await rowsRead(owner, other)];
    for (const [at, rows] of many.entries()) {
      expect(rows).toBeLessThanOrEqual((few[at] ?? 0) + 2);
    }
  });

  // SECURITY: as each package by itself; see `toPackageContext`.
  it("shows what the reader may see", async () => {
    const [owner, collaborator, restricted, other] = [
      await make.user(),
      await make.user(),
      await make.user({ isRestricted: true }),
      await make.user(),
    ];
    const [open, secret, further] = [
      await make.repo(owner),
      await make.repo(owner, { isPrivate: true }),
      await make.repo(owner, { isPrivate: true }),
    ];
    await make.collaborator(secret, collaborator, 1);
    const made = {
      loose: await makePackage(owner, { type: "pypi" }),
      open: await makePackage(owner, { type: "pypi", repoId: open.id }),
      secret: await makePackage(owner, { type: "pypi", repoId: secret.id }),
      further: await makePackage(owner, { type: "pypi", repoId: further.id }),
      kept: await makePackage(owner, { type: "pypi", isRestricted: true }),
    };
    const shownTo = async (how?: { as: TestUser } | { token: string }) => {
      const page = String((await visit("GET", pathOf(owner), how)).body);
      return Object.entries(made).flatMap(([name, pkg]) => (page.includes(pkg.name) ? [name] : []));
    };
    const bound = await make.token(owner, { repos: [open, secret] });
    // Twice: what one reader has put into the cache is not shown to another one.
    for (let turn = 0; turn < 2; turn++) {
      expect(await shownTo()).toEqual(["loose", "open"]);
      expect(await shownTo({ as: other })).toEqual(["loose", "open"]);
      expect(await shownTo({ as: restricted })).toEqual(["loose"]);
      expect(await shownTo({ as: collaborator })).toEqual(["loose", "open", "secret"]);
      expect(await shownTo({ as: owner })).toEqual(Object.keys(made));
      expect(await shownTo({ token: bound })).toEqual(["open", "secret"]);
    }
  });

  // SECURITY: nobody learns when a package changes that they do not see.
  it("keeps its entity tag for a reader when a package changes that the reader does not see", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    const seen = await makePackage(owner, { type: "pypi" });
    const [hidden] = await link(owner, true, 1);
    if (!hidden) throw new Error("nothing was linked");
    const [anonymous, ofOther, ofOwner] = [
      await tagOf(owner),
      await tagOf(owner, other),
      await tagOf(owner, owner),
    ];
    await addVersion(hidden);
    expect(await tagOf(owner)).toBe(anonymous);
    expect(await tagOf(owner, other)).toBe(ofOther);
    expect(await tagOf(owner, owner)).not.toBe(ofOwner);
    await addVersion(seen);
    expect(await tagOf(owner)).not.toBe(anonymous);
  });
});
