import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { users } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { make } from "../../support/make.ts";

let browser: Browser;
let token: string;
beforeAll(async () => {
  browser = await Browser.signedIn(await make.userWithPassword({ isAdmin: true }));
  token = formTokenOf((await browser.get("/user/settings/account")).body);
});

const rowOf = async ({ id }: { id: number }) =>
  (await db.select().from(users).where(eq(users.id, id)))[0];

describe("the page of a quota", () => {
  it("shows what an account has, and sets its limits", async () => {
    const user = await make.user();
    await make.repo(user, { sizeBytes: 2048 });
    const path = `/-/admin/quotas/${user.name}`;
    expect((await browser.get(path)).body).toMatch(/2\.?0? KiB/);
    const fields = { _csrf: token, repositories: "-1", bytes: "1000000", tokens: "7" };
    expect((await browser.post(path, fields)).status).toBe(303);
    expect(await rowOf(user)).toMatchObject({
      quota: { bytesMax: 1_000_000, tokenCountMax: 7 },
      repoCountMax: -1,
    });
    expect((await browser.get(path)).body).toContain('value="1000000"');
    // Among the owners of the largest repositories.
    await make.repo(user, { sizeBytes: 2 ** 50 });
    expect((await browser.get("/-/admin/storage")).body).toContain(path);
  });

  it.each(["", "-2", "x", "1.5"])(
    "refuses %j bytes, keeps it, and writes nothing",
    async (bytes) => {
      const org = await make.org([await make.user()]);
      const fields = { _csrf: token, repositories: "-1", bytes, tokens: "-1" };
      const { status, body } = await browser.post(`/-/admin/quotas/${org.name}`, fields);
      expect(status).toBe(422);
      expect(body).toContain('id="bytes-fault"');
      expect(body).toContain('value="' + bytes + '"');
      expect((await rowOf(org))?.quota).toBeNull();
    },
  );

  it("is not found for others, and of nobody", async () => {
    const user = await make.userWithPassword();
    const own = await Browser.signedIn(user);
    expect((await own.get(`/-/admin/quotas/${user.name}`)).status).toBe(403);
    const ownToken = formTokenOf((await own.get("/user/settings/account")).body);
    const fields = { _csrf: ownToken, repositories: "-1", bytes: "5", tokens: "-1" };
    expect((await own.post(`/-/admin/quotas/${user.name}`, fields)).status).toBe(403);
    expect((await rowOf(user))?.quota).toBeNull();
    expect((await browser.get("/-/admin/quotas/nobody-at-all")).status).toBe(404);
  });
});
