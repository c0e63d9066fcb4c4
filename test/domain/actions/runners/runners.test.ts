import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { runners } from "../../../../src/db/schema/index.ts";
import type { ActionsLevel } from "../../../../src/domain/actions/level.ts";
import {
  deleteRunner,
  setRunnerDisabled,
} from "../../../../src/domain/actions/runners/change-runner.ts";
import { findRunner } from "../../../../src/domain/actions/runners/find-runner.ts";
import { listRunners } from "../../../../src/domain/actions/runners/list-runners.ts";
import { registerRunner } from "../../../../src/domain/actions/runners/register-runner.ts";
import {
  readRegistrationToken,
  resetRegistrationToken,
} from "../../../../src/domain/actions/runners/registration-token.ts";
import { auditOf } from "../../../support/audit.ts";
import { db } from "../../../support/db.ts";
import { make } from "../../../support/make.ts";
import { SEALING_KEYS } from "../../../support/sealing.ts";
import { systemCtx } from "../../../support/system.ts";

const PAGE = { size: 50, offset: 0 };
const SERVICE: ActionsLevel = { level: "service" };

/** A context at a time shortly after 1970. */
const ctx = () => systemCtx({}, 5000, { SEALING_KEYS });

const REGISTRATION = {
  name: "builder",
  version: "v0.6.0",
  labels: ["linux", "host"],
  capabilities: ["cancelling"],
  isEphemeral: false,
};

const register = async (level: ActionsLevel, fields: Partial<typeof REGISTRATION> = {}) =>
  registerRunner(ctx(), {
    ...REGISTRATION,
    ...fields,
    token: await readRegistrationToken(ctx(), level),
  });

/** An owner, their repository, and the levels of both. */
async function levels() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const ofRepo: ActionsLevel = { level: "repository", repo };
  const ofOwner: ActionsLevel = { level: "owner", owner };
  return { owner, repo, ofRepo, ofOwner };
}

describe("registration tokens", () => {
  it("are the same each time, and differ between levels", async () => {
    const { ofRepo, ofOwner } = await levels();
    const tokens = await Promise.all([
      readRegistrationToken(ctx(), ofRepo),
      readRegistrationToken(ctx(), ofRepo),
      readRegistrationToken(ctx(), ofOwner),
      readRegistrationToken(ctx(), SERVICE),
      readRegistrationToken(ctx(), SERVICE),
    ]);
    expect(tokens[0]).toMatch(/^[0-9a-f]{40}$/);
    expect([tokens[1], tokens[4]]).toEqual([tokens[0], tokens[3]]);
    expect(new Set(tokens).size).toBe(3);
  });

  it("end when they are reset", async () => {
    const { owner, ofOwner } = await levels();
    const old = await readRegistrationToken(ctx(), ofOwner);
    const fresh = await resetRegistrationToken(ctx(), ofOwner);
    expect(await readRegistrationToken(ctx(), ofOwner)).toBe(fresh);
    await expect(registerRunner(ctx(), { ...REGISTRATION, token: old })).rejects.toMatchObject({
      kind: "unauthenticated",
    });
    expect(await db.select().from(runners).where(eq(runners.ownerId, owner.id))).toEqual([]);
    expect((await auditOf(owner)).map(({ kind }) => kind)).toEqual(["runner_token.reset"]);
  });
});

describe("registerRunner", () => {
  it("makes a runner at the level of the token, and notes it for the owner", async () => {
    const { owner, repo, ofRepo } = await levels();
    const { runner, token } = await register(ofRepo);
    expect(runner).toMatchObject({
      repoId: repo.id,
      ownerId: null,
      name: "builder",
      labels: ["linux", "host"],
      capabilities: ["cancelling"],
    });
    expect(token).toMatch(/^[0-9a-f]{40}$/);
    expect(runner.tokenHash).not.toContain(token);
    expect(await auditOf(owner)).toMatchObject([
      {
        kind: "runner.registered",
        repoId: repo.id,
        target: "builder",
        details: { runnerId: runner.id, isEphemeral: false },
      },
    ]);
  });

  it.each([
    ["labels", { labels: Array.from({ length: 101 }, (_, at) => `l${at}`) }],
    ["a long label", { labels: ["x".repeat(256)] }],
    ["a long name", { name: "x".repeat(256) }],
  ])("refuses too much: %s", async (_name, fields) => {
    const { owner, ofOwner } = await levels();
    await expect(register(ofOwner, fields)).rejects.toMatchObject({ kind: "invalid" });
    expect(await db.select().from(runners).where(eq(runners.ownerId, owner.id))).toEqual([]);
  });
});

describe("runners of a level", () => {
  it("are listed at their level, and at that of the service", async () => {
    const { ofRepo, ofOwner } = await levels();
    const { runner: first } = await register(ofRepo);
    const { runner: second } = await register(ofOwner);
    expect(await listRunners(ctx(), ofRepo, PAGE)).toMatchObject({
      items: [{ id: first.id, isBusy: false }],
      total: 1,
    });
    expect((await listRunners(ctx(), ofOwner, PAGE)).items).toMatchObject([{ id: second.id }]);
    const all = await listRunners(ctx(), SERVICE, { size: 1000, offset: 0 });
    expect(all.items.map(({ id }) => id)).toEqual(expect.arrayContaining([first.id, second.id]));
  });

  it("are found and deleted at their level only, or by the service", async () => {
    const { owner, ofRepo, ofOwner } = await levels();
    const { runner } = await register(ofRepo);
    await expect(findRunner(ctx(), ofOwner, runner.id)).rejects.toMatchObject({
      kind: "not_found",
    });
    await expect(deleteRunner(ctx(), ofOwner, runner.id)).rejects.toMatchObject({
      kind: "not_found",
    });
    expect(await findRunner(ctx(), SERVICE, runner.id)).toMatchObject({ name: "builder" });
    await deleteRunner(ctx(), SERVICE, runner.id);
    await expect(findRunner(ctx(), ofRepo, runner.id)).rejects.toMatchObject({ kind: "not_found" });
    expect((await auditOf(owner)).map(({ kind }) => kind)).toEqual([
      "runner.registered",
      "runner.deleted",
    ]);
  });

  it("can be disabled, once", async () => {
    const { owner, ofOwner } = await levels();
    const { runner } = await register(ofOwner);
    for (let time = 0; time < 2; time++) {
      expect(await setRunnerDisabled(ctx(), ofOwner, runner.id, true)).toMatchObject({
        isDisabled: true,
      });
    }
    expect(await findRunner(ctx(), ofOwner, runner.id)).toMatchObject({ isDisabled: true });
    expect((await auditOf(owner)).map(({ kind }) => kind)).toEqual([
      "runner.registered",
      "runner.edited",
    ]);
  });
});
