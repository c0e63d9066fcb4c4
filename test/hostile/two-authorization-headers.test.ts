import { describe, expect, it } from "vitest";

import { repositories } from "../../src/db/schema/index.ts";
import { eq } from "drizzle-orm";
import { answer } from "../support/call.ts";
import { db } from "../support/db.ts";
import { freshName, make } from "../support/make.ts";

/**
 * Sends a request with several `Authorization` headers, which a record of headers can't express.
 */
async function send(path: string, values: readonly string[], init: RequestInit = {}) {
  const headers = new Headers(init.headers);
  for (const value of values) headers.append("Authorization", value);
  const response = await answer(new Request(`https://forge.example${path}`, { ...init, headers }));
  return { status: response.status, text: await response.text() };
}

const DOORS = {
  API: "/api/v1/user",
  git: "/nobody/nothing/info/refs?service=git-upload-pack",
  web: "/nobody.rss",
};

const asBasic = (name: string, password: string): string => `Basic ${btoa(`${name}:${password}`)}`;

describe("two Authorization headers", () => {
  it("that are equal count as one", async () => {
    const user = await make.userWithPassword();
    for (const value of [
      `token ${user.token}`,
      `Bearer ${user.token}`,
      asBasic(user.name, user.password),
      asBasic("x", user.token),
    ]) {
      const { status, text } = await send(DOORS.API, [value, value]);
      expect([value, status, (JSON.parse(text) as { login: string }).login]).toEqual([
        value,
        200,
        user.name,
      ]);
    }
  });

  it.each(Object.entries(DOORS))("that differ are refused at the door of %s", async (_, path) => {
    const [user, other] = [await make.user(), await make.user()];
    for (const values of [
      [`token ${user.token}`, `token ${other.token}`],
      [`token ${user.token}`, asBasic("x", user.token)],
      [`Digest a="b"`, `token ${user.token}`],
      [`token ${user.token}`, "token"],
    ]) {
      const { status, text } = await send(path, values);
      expect([values, status]).toEqual([values, 401]);
      expect(text).toContain("the request has different Authorization headers");
      expect(text).not.toContain(user.token);
    }
  });

  it("that differ write nothing", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const name = freshName("repo");
    const { status } = await send(
      "/api/v1/user/repos",
      [`token ${user.token}`, `token ${other.token}`],
      {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ name }),
      },
    );
    expect(status).toBe(401);
    expect(await db.select().from(repositories).where(eq(repositories.name, name))).toEqual([]);
  });
});
