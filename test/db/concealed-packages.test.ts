import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  packageRegistries,
  packages,
  packageVersions,
  repositories,
  users,
  type Package,
} from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { make } from "../support/make.ts";
import { makePackage } from "../support/packages.ts";

/** Whether a package is concealed, and both revisions of its registry. */
async function stateOf({ id, ownerId, type }: Pick<Package, "id" | "ownerId" | "type">) {
  const isThis = and(eq(packageRegistries.ownerId, ownerId), eq(packageRegistries.type, type));
  const [[pkg], [registry]] = await Promise.all([
    db.select().from(packages).where(eq(packages.id, id)),
    db.select().from(packageRegistries).where(isThis),
  ]);
  return {
    isConcealed: pkg?.isConcealed,
    revision: registry?.revision ?? Number.NaN,
    publicRevision: registry?.publicRevision ?? Number.NaN,
  };
}

const link = (pkg: Package, repoId: number | null) =>
  db.update(packages).set({ repoId }).where(eq(packages.id, pkg.id));

const addVersion = ({ id, ownerId, type }: Package) =>
  db.insert(packageVersions).values({
    packageId: id,
    ownerId,
    type,
    version: crypto.randomUUID(),
    versionKey: crypto.randomUUID(),
    createdAt: 1000,
  });

describe("a package is concealed", () => {
  it("while it is linked to a private repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    const pkg = await makePackage(owner);
    expect((await stateOf(pkg)).isConcealed).toBe(false);
    await link(pkg, repo.id);
    expect((await stateOf(pkg)).isConcealed).toBe(true);
    await link(pkg, null);
    expect((await stateOf(pkg)).isConcealed).toBe(false);
    expect((await stateOf(await makePackage(owner, { repoId: repo.id }))).isConcealed).toBe(true);
  });

  it("when the repository becomes private, and no longer when it becomes public", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const pkg = await makePackage(owner, { repoId: repo.id });
    const path = `/repos/${repo.owner}/${repo.name}`;
    for (const isPrivate of [false, true, false]) {
      await call("PATCH", path, { as: owner, json: { private: isPrivate } });
      expect((await stateOf(pkg)).isConcealed).toBe(isPrivate);
    }
  });

  it("with the visibility of its owner", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const pkg = await makePackage(owner, { repoId: repo.id });
    for (const visibility of ["private", "limited", "public"] as const) {
      await db.update(users).set({ visibility }).where(eq(users.id, owner.id));
      expect((await stateOf(pkg)).isConcealed).toBe(visibility === "private");
    }
  });

  it("when its private repository is deleted", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    const pkg = await makePackage(owner, { repoId: repo.id });
    await db.delete(repositories).where(eq(repositories.id, repo.id));
    const row = only(await db.select().from(packages).where(eq(packages.id, pkg.id)));
    expect(row).toMatchObject({ repoId: null, isRestricted: true, isConcealed: true });
  });
});

describe("the public revision of a registry", () => {
  it("counts changes of packages that are not concealed", async () => {
    const pkg = await makePackage(await make.user());
    const before = await stateOf(pkg);
    await addVersion(pkg);
    const after = await stateOf(pkg);
    expect(after.revision).toBeGreaterThan(before.revision);
    expect(after.publicRevision).toBeGreaterThan(before.publicRevision);
    await db.delete(packages).where(eq(packages.id, pkg.id));
    expect((await stateOf(pkg)).publicRevision).toBeGreaterThan(after.publicRevision);
  });

  // SECURITY: a reader who does not see a package can't tell from an index when it changes.
  it("stays while a concealed package changes", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    const pkg = await makePackage(owner);
    const open = await stateOf(pkg);
    await link(pkg, repo.id);
    const concealed = await stateOf(pkg);
    expect(concealed.publicRevision).toBeGreaterThan(open.publicRevision);
    await addVersion(pkg);
    const after = await stateOf(pkg);
    expect(after.revision).toBeGreaterThan(concealed.revision);
    expect(after.publicRevision).toBe(concealed.publicRevision);
    await db.delete(packages).where(eq(packages.id, pkg.id));
    expect((await stateOf(pkg)).publicRevision).toBe(concealed.publicRevision);
  });
});
