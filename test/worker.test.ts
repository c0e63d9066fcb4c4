import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { emailAddresses, events, users } from "../src/db/schema/index.ts";
import { openIsolatedService } from "./support/isolated-service.ts";
import { freshName, make } from "./support/make.ts";

const ROOT = { name: "root", password: "correct horse", email: "root@example.com" };

describe("Setup.createFirstAdministrator", () => {
  it("creates an administrator who can sign in, if there is none", async () => {
    const { db, setup, call } = await openIsolatedService(env.SETUP_DB);

    expect(await setup().createFirstAdministrator(ROOT)).toEqual({ created: true });

    expect(await db.select().from(users)).toMatchObject([
      {
        name: "root",
        email: "root@example.com",
        isAdmin: true,
        isActive: true,
        mustChangePassword: false,
      },
    ]);
    expect(await db.select().from(emailAddresses)).toMatchObject([
      { email: "root@example.com", isPrimary: true, isActivated: true },
    ]);
    const renamed = await call("PATCH", "/admin/users/root", ROOT, { full_name: "Root" });
    expect(renamed).toMatchObject({ status: 200, body: { is_admin: true, full_name: "Root" } });
  });

  it("creates only one, since every start of the service calls it", async () => {
    const { db, setup } = await openIsolatedService(env.SETUP_DB);
    await setup().createFirstAdministrator(ROOT);

    const other = { ...ROOT, name: "other", email: "other@example.com" };
    expect(await setup().createFirstAdministrator(ROOT)).toEqual({ created: false });
    expect(await setup().createFirstAdministrator(other)).toEqual({ created: false });

    expect(await db.select().from(users)).toHaveLength(1);
  });

  it("creates one if there are only users without admin rights", async () => {
    const { db, setup } = await openIsolatedService(env.SETUP_DB);
    await db.insert(users).values({
      kind: "user",
      name: "ada",
      lowerName: "ada",
      createdAt: 1000,
      updatedAt: 1000,
    });

    expect(await setup().createFirstAdministrator(ROOT)).toEqual({ created: true });
  });

  // The password is required on the first start only; later starts pass none.
  it("checks for an administrator before it validates the account", async () => {
    await make.admin();
    const name = freshName("root");

    const nothing = { name, password: "", email: "" };
    expect(await exports.Setup.createFirstAdministrator(nothing)).toEqual({ created: false });
  });

  it.each([
    ["a password that is too short", { password: "short" }, "PasswordIsRequired"],
    ["a reserved name", { name: "api" }, "name is reserved"],
    ["an invalid e-mail address", { email: "root" }, "[email]: must be an e-mail address"],
  ])("refuses %s on the first start, and creates no account", async (_, fields, message) => {
    const { db, setup } = await openIsolatedService(env.SETUP_DB);
    const eventCount = await db.$count(events);

    const creation = setup().createFirstAdministrator({ ...ROOT, ...fields });

    await expect(creation).rejects.toThrow(message);

    expect(await db.select().from(users)).toEqual([]);
    expect(await db.$count(events)).toBe(eventCount);
  });
});
