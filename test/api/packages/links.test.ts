import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { auditEvents, packages } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makePackage, type TestPackage } from "../../support/packages.ts";

let owner: TestUser;
let other: TestUser;
let repo: TestRepo;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
  repo = await make.repo(owner);
});

const link = (pkg: TestPackage, name: string, as: TestUser | undefined = owner) =>
  call("POST", `/packages/${pkg.owner}/${pkg.type}/${pkg.name}/-/link/${name}`, { as });
const unlink = (pkg: TestPackage, as = owner) =>
  call("POST", `/packages/${pkg.owner}/${pkg.type}/${pkg.name}/-/unlink`, { as });

const repoIdOf = async ({ id }: TestPackage) => {
  const [row] = await db.select().from(packages).where(eq(packages.id, id));
  return row?.repoId;
};

describe("the link of a package to a repository", () => {
  it("is made and taken off, each once, with an entry of the audit log", async () => {
    const pkg = await makePackage(owner);
    expect((await link(pkg, repo.name.toUpperCase())).status).toBe(201);
    expect(await repoIdOf(pkg)).toBe(repo.id);
    expect((await link(pkg, repo.name)).status).toBe(400);
    const get = await call("GET", `/packages/${pkg.owner}/${pkg.type}/${pkg.name}/1.0`, {
      as: other,
    });
    expect(get.body.repository).toMatchObject({ id: repo.id });
    expect((await unlink(pkg)).status).toBe(204);
    expect(await repoIdOf(pkg)).toBeNull();
    expect((await unlink(pkg)).status).toBe(400);
    const log = await db
      .select()
      .from(auditEvents)
      .where(eq(auditEvents.target, `generic/${pkg.name}`));
    expect(log.map(({ kind, repoId }) => [kind, repoId])).toEqual([
      ["package.linked", repo.id],
      ["package.unlinked", repo.id],
    ]);
  });

  it("lifts the restriction that a private repository left", async () => {
    const pkg = await makePackage(owner, { isRestricted: true });
    const get = () =>
      call("GET", `/packages/${pkg.owner}/${pkg.type}/${pkg.name}/1.0`, { as: other });
    expect((await get()).status).toBe(404);
    expect((await link(pkg, repo.name)).status).toBe(201);
    expect((await get()).status).toBe(200);
  });

  it("needs a repository of the same owner that the caller sees", async () => {
    const pkg = await makePackage(owner);
    const foreign = await make.repo(other);
    expect((await link(pkg, foreign.name)).status).toBe(404);
    expect((await link(pkg, "no-such-repository")).status).toBe(404);
    expect(await repoIdOf(pkg)).toBeNull();
  });

  it("needs the unit of packages", async () => {
    const pkg = await makePackage(owner);
    const off = await make.repo(owner, { hasPackages: false });
    expect((await link(pkg, off.name)).status).toBe(403);
    expect(await repoIdOf(pkg)).toBeNull();
  });

  it("needs the right to write packages of the repository", async () => {
    const org = await make.org([owner]);
    const [ofOrg, hidden] = [await makePackage(org), await make.repo(org)];
    const writer = await make.user();
    // Writes the packages of the organization, but reaches no repository yet.
    const team = await make.team(org, { access: 0, units: { packages: 2 }, all: false });
    await make.member(org, team, writer);
    expect((await link(ofOrg, hidden.name, writer)).status).toBe(403);
    expect(await repoIdOf(ofOrg)).toBeNull();
    await make.teamRepo(team, hidden);
    expect((await link(ofOrg, hidden.name, writer)).status).toBe(201);
    expect((await unlink(ofOrg, writer)).status).toBe(204);
  });

  it("is taken off by administrators also while the unit is disabled", async () => {
    const off = await make.repo(owner, { hasPackages: false });
    const pkg = await makePackage(owner, { repoId: off.id });
    expect((await unlink(pkg)).status).toBe(204);
  });

  it("is up to those who may write the owner's packages", async () => {
    const pkg = await makePackage(owner);
    expect((await link(pkg, repo.name, other)).status).toBe(403);
    const linked = await makePackage(owner, { repoId: repo.id });
    expect((await unlink(linked, other)).status).toBe(403);
    expect(await repoIdOf(pkg)).toBeNull();
    expect(await repoIdOf(linked)).toBe(repo.id);
  });
});
