import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { actionSecrets, actionVariables } from "../../../src/db/schema/index.ts";
import { ACTION_VALUE_LIMITS } from "../../../src/domain/actions/action-values.ts";
import { readRegistrationToken } from "../../../src/domain/actions/runners/registration-token.ts";
import { readJobSecrets } from "../../../src/domain/actions/secrets/read-job-secrets.ts";
import { resealActionSecrets } from "../../../src/domain/actions/secrets/reseal-action-secrets.ts";
import { setSecret } from "../../../src/domain/actions/secrets/secrets.ts";
import { readJobVariables } from "../../../src/domain/actions/variables/read-job-variables.ts";
import {
  createVariable,
  deleteVariable,
  editVariable,
} from "../../../src/domain/actions/variables/variables.ts";
import { auditOf } from "../../support/audit.ts";
import { db } from "../../support/db.ts";
import { make } from "../../support/make.ts";
import { SEALING_KEYS } from "../../support/sealing.ts";
import { systemCtx } from "../../support/system.ts";

const NOW = 5000;
const ctx = systemCtx({ DB: env.DB }, NOW, { SEALING_KEYS });
const SERVICE = { level: "service" } as const;

async function makeOwners() {
  const account = await make.user();
  const repo = await make.repo(account);
  return {
    account,
    ofAccount: { level: "owner", owner: account } as const,
    ofRepository: { level: "repository", repo } as const,
    place: { repoId: repo.id, ownerId: account.id },
  };
}

describe("the secrets of a job", () => {
  it("are those of its repository, which win, and of the owner", async () => {
    const { ofAccount, ofRepository, place } = await makeOwners();
    await setSecret(ctx, ofRepository, "both", { value: "of the repository" });
    await setSecret(ctx, ofAccount, "BOTH", { value: "of the account" });
    await setSecret(ctx, ofAccount, "key", { value: "first" });
    await setSecret(ctx, ofAccount, "KEY", { value: "last" });
    expect(await readJobSecrets(ctx, place)).toEqual({ BOTH: "of the repository", KEY: "last" });
    const other = await makeOwners();
    expect(await readJobSecrets(ctx, other.place)).toEqual({});
  });

  it("are stored sealed, and audited by their names alone", async () => {
    const { account, ofAccount } = await makeOwners();
    expect(await setSecret(ctx, ofAccount, "A", { value: "plain text", description: "d" })).toBe(
      "created",
    );
    expect(await setSecret(ctx, ofAccount, "a", { value: "plain text 2" })).toBe("edited");
    const rows = await db.select().from(actionSecrets).where(eq(actionSecrets.ownerId, account.id));
    expect(rows).toMatchObject([{ name: "A", description: "d", createdAt: NOW }]);
    expect(rows[0]?.value).toMatch(/^1\.test\./);
    const entries = await auditOf(account);
    expect(entries).toMatchObject([
      { kind: "secret.created", target: "A" },
      { kind: "secret.edited", target: "A" },
    ]);
    expect(JSON.stringify(entries)).not.toContain("plain");
  });

  it("are left out where no key unseals them", async () => {
    const { ofAccount, place } = await makeOwners();
    await setSecret(ctx, ofAccount, "A", { value: "x" });
    const other = systemCtx({ DB: env.DB }, NOW, { SEALING_KEYS: `new:${"B".repeat(43)}=` });
    await setSecret(other, ofAccount, "B", { value: "y" });
    expect(await readJobSecrets(other, place)).toEqual({ B: "y" });
  });
});

describe("the secrets and registration tokens of a service with a new key", () => {
  it("are sealed with it, but for those that no key unseals", async () => {
    const { account, ofAccount, place } = await makeOwners();
    await setSecret(ctx, ofAccount, "A", { value: "x" });
    const registration = await readRegistrationToken(ctx, ofAccount);
    const rowsOf = () =>
      db.select().from(actionSecrets).where(eq(actionSecrets.ownerId, account.id));
    const damaged = { ownerId: account.id, name: "B", createdAt: 1, updatedAt: 1 };
    await db.insert(actionSecrets).values({ ...damaged, value: "1.test.AAAA" });
    const NEW = `new:${"B".repeat(43)}=`;
    await resealActionSecrets(
      systemCtx({ DB: env.DB }, NOW, { SEALING_KEYS: `${NEW},${SEALING_KEYS}` }),
    );
    expect((await rowsOf()).map(({ value }) => value.slice(0, 7))).toEqual(
      ["1.new.", "1.test."].map((each) => expect.stringMatching(each)),
    );
    const withNewKeyAlone = systemCtx({ DB: env.DB }, NOW, { SEALING_KEYS: NEW });
    expect(await readJobSecrets(withNewKeyAlone, place)).toEqual({ A: "x" });
    expect(await readRegistrationToken(withNewKeyAlone, ofAccount)).toBe(registration);
    // Other tests of the database have the older key.
    await resealActionSecrets(
      systemCtx({ DB: env.DB }, NOW, { SEALING_KEYS: `${SEALING_KEYS},${NEW}` }),
    );
    expect(await readRegistrationToken(ctx, ofAccount)).toBe(registration);
  });
});

describe("the variables of a job", () => {
  it("are those of its repository over the owner's over the service's", async () => {
    const { ofAccount, ofRepository, place } = await makeOwners();
    for (const [owner, name] of [
      [ofRepository, "ALL_THREE"],
      [ofAccount, "ALL_THREE"],
      [SERVICE, "ALL_THREE"],
      [ofAccount, "ABOVE"],
      [SERVICE, "ABOVE"],
      [SERVICE, "TOP"],
    ] as const) {
      await createVariable(ctx, owner, name, { value: owner.level });
    }
    expect(await readJobVariables(ctx, place)).toMatchObject({
      ALL_THREE: "repository",
      ABOVE: "owner",
      TOP: "service",
    });
    for (const name of ["ALL_THREE", "ABOVE", "TOP"]) await deleteVariable(ctx, SERVICE, name);
  });
});

describe("the limits of an owner", () => {
  const { count, totalChars, valueBytes } = ACTION_VALUE_LIMITS;
  const row = (ownerId: number, name: string, value: string) => ({
    ownerId,
    name,
    value,
    createdAt: 1,
    updatedAt: 1,
  });

  it("hold of the number", async () => {
    const { account, ofAccount } = await makeOwners();
    const names = Array.from({ length: count - 1 }, (_, at) => `V${at}`);
    for (let at = 0; at < names.length; at += 10) {
      const rows = names.slice(at, at + 10).map((name) => row(account.id, name, "x"));
      await db.insert(actionVariables).values(rows);
    }
    await createVariable(ctx, ofAccount, "LAST", { value: "x" });
    const refusal = { kind: "invalid", message: expect.stringContaining(`${count} variables`) };
    await expect(createVariable(ctx, ofAccount, "MORE", { value: "x" })).rejects.toMatchObject(
      refusal,
    );
    await editVariable(ctx, ofAccount, "LAST", { value: "y" });
    expect(await db.$count(actionVariables, eq(actionVariables.ownerId, account.id))).toBe(count);
    expect((await auditOf(account)).map(({ kind }) => kind)).toEqual([
      "variable.created",
      "variable.edited",
    ]);
  });

  it("hold of all values together, of which a new value replaces the old", async () => {
    const { account, ofAccount } = await makeOwners();
    const value = "x".repeat(valueBytes);
    for (let at = 0; at < totalChars / valueBytes; at++) {
      await db.insert(actionSecrets).values(row(account.id, `S${at}`, value));
    }
    await setSecret(ctx, ofAccount, "S0", { value: "short" });
    await setSecret(ctx, ofAccount, "MORE", { value: "fits" });
    await expect(setSecret(ctx, ofAccount, "S0", { value })).rejects.toMatchObject({
      kind: "invalid",
    });
    await expect(setSecret(ctx, ofAccount, "ANOTHER", { value })).rejects.toMatchObject({
      kind: "invalid",
    });
    expect((await auditOf(account)).map(({ kind }) => kind)).toEqual([
      "secret.edited",
      "secret.created",
    ]);
  });
});
