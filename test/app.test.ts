import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { users } from "../src/db/schema/index.ts";
import { db } from "./support/db.ts";
import { freshName, make } from "./support/make.ts";
import { serviceWith } from "./support/service.ts";

describe("FIRST_ADMIN_PASSWORD", () => {
  // SECURITY: the secret is for the first start only and must have no effect once an administrator
  // exists.
  it("creates no administrator if one exists", async () => {
    await make.admin();
    const name = freshName("second");

    const answer = await serviceWith({
      FIRST_ADMIN_PASSWORD: "correct horse battery",
      FIRST_ADMIN_USER: name,
    })("GET", "/version");

    expect(answer.status).toBe(200);
    expect(await db.select().from(users).where(eq(users.lowerName, name))).toEqual([]);
  });
});

describe("ROOT_URL", () => {
  it("is the base of links, regardless of the request's host", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);

    const answer = await serviceWith({ ROOT_URL: "https://code.example" })(
      "GET",
      `/repos/${owner.name}/${repo.name}`,
    );

    expect(answer.body).toMatchObject({
      html_url: `https://code.example/${owner.name}/${repo.name}`,
      ssh_url: `git@code.example:${owner.name}/${repo.name}.git`,
    });
  });
});
