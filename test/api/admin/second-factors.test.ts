import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  recoveryCodes,
  sessions,
  totpSecrets,
  users,
  webauthnCredentials,
} from "../../../src/db/schema/index.ts";
import { auditOf } from "../../support/audit.ts";
import { basic, call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsIn } from "../../support/events.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";

const pathOf = ({ name }: { name: string }) => `/admin/users/${name}/second_factors`;

/** Gives a user an app, a key, a recovery code and a session. */
async function enrol({ id: userId }: TestUser): Promise<void> {
  await db.batch([
    db.insert(totpSecrets).values({ userId, sealedSecret: "x", isEnabled: true, createdAt: 1 }),
    db.insert(recoveryCodes).values({ userId, codeHash: "x" }),
    db.insert(webauthnCredentials).values({
      userId,
      name: "key",
      credentialId: freshName("credential"),
      publicKey: "x",
      counter: 0,
      transports: "[]",
      createdAt: 1,
    }),
    db.insert(sessions).values({
      userId,
      secretHash: freshName("session"),
      userAgent: "",
      network: "",
      createdAt: 1,
      lastUsedAt: 1,
      expiresAt: 1,
    }),
    db.update(users).set({ hasTotp: true, hasWebauthn: true }).where(eq(users.id, userId)),
  ]);
}

/** What a user has to sign in with, besides the password. */
async function factorsOf({ id }: TestUser) {
  const [apps, keys, codes, open, [row]] = await db.batch([
    db.select().from(totpSecrets).where(eq(totpSecrets.userId, id)),
    db.select().from(webauthnCredentials).where(eq(webauthnCredentials.userId, id)),
    db.select().from(recoveryCodes).where(eq(recoveryCodes.userId, id)),
    db.select().from(sessions).where(eq(sessions.userId, id)),
    db.select().from(users).where(eq(users.id, id)),
  ]);
  const rows = [apps, keys, codes, open].map(({ length }) => length);
  return [...rows, row?.hasTotp, row?.hasWebauthn];
}

describe("DELETE /admin/users/{username}/second_factors", () => {
  it("removes app, keys and codes, ends sessions, and records who did", async () => {
    const admin = await make.admin();
    const [user, other] = [await make.userWithPassword(), await make.user()];
    await enrol(user);
    await enrol(other);
    const sending = { headers: basic(user.name, user.password) };
    expect((await call("GET", "/user", sending)).status).toBe(401);

    expect((await call("DELETE", pathOf(user), { as: admin })).status).toBe(204);

    expect(await factorsOf(user)).toEqual([0, 0, 0, 0, false, false]);
    expect(await factorsOf(other)).toEqual([1, 1, 1, 1, true, true]);
    expect((await call("GET", "/user", sending)).status).toBe(200);
    expect(await eventsIn(user)).toMatchObject([
      { type: "user.edited", actorId: admin.id, payload: { changed: ["second_factors"] } },
    ]);
    expect(await auditOf(user)).toContainEqual(
      expect.objectContaining({ kind: "two_factor.disabled", actorId: admin.id }),
    );
    expect((await call("DELETE", pathOf(user), { as: admin })).status).toBe(404);
  });

  it("is for administrators, and for users that exist", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    await enrol(user);
    const before = await factorsOf(user);
    const readOnly = await make.token(admin, { scopes: "read:admin,write:user" });

    expect((await call("DELETE", pathOf(user), {})).status).toBe(401);
    expect((await call("DELETE", pathOf(user), { as: await make.user() })).status).toBe(403);
    expect((await call("DELETE", pathOf(user), { token: readOnly })).status).toBe(403);
    const none = { name: freshName("none") };
    expect((await call("DELETE", pathOf(none), { as: admin })).status).toBe(404);
    expect(await factorsOf(user)).toEqual(before);
  });
});
