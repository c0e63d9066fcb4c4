import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { createApp } from "../src/app.ts";
import { parseConfig } from "../src/config.ts";
import { users } from "../src/db/schema/index.ts";
import { db } from "./support/db.ts";
import { freshName, make } from "./support/make.ts";

async function visit(variables: Record<string, string>, path: string): Promise<Response> {
  const context = createExecutionContext();
  const app = createApp(parseConfig(variables));
  const answer = await app.fetch(new Request(`https://forge.example${path}`), env, context);
  await waitOnExecutionContext(context);
  return answer;
}

describe("FIRST_ADMIN_PASSWORD", () => {
  // On the platform no other way leads in; where there is one already, the secret must open nothing.
  it("makes no second administrator", async () => {
    await make.admin();
    const name = freshName("second");

    const answer = await visit(
      { FIRST_ADMIN_PASSWORD: "correct horse battery", FIRST_ADMIN_USER: name },
      "/api/v1/version",
    );

    expect(answer.status).toBe(200);
    expect(await db.select().from(users).where(eq(users.lowerName, name))).toEqual([]);
  });
});

describe("ROOT_URL", () => {
  it("is what links are built from, whatever host the request names", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);

    const answer = await visit(
      { ROOT_URL: "https://code.example" },
      `/api/v1/repos/${owner.name}/${repo.name}`,
    );

    expect(await answer.json()).toMatchObject({
      html_url: `https://code.example/${owner.name}/${repo.name}`,
      ssh_url: `git@code.example:${owner.name}/${repo.name}.git`,
    });
  });
});
