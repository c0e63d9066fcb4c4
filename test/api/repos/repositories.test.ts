import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, watches } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

describe("POST /user/repos", () => {
  it("creates an empty repository that its creator watches, and announces it", async () => {
    const owner = await make.user();
    const name = freshName("Repo");

    const { answer, line } = await logged(() =>
      call("POST", "/user/repos", { as: owner, json: { name, description: "A thing" } }),
    );

    expect(answer).toMatchObject({
      status: 201,
      body: {
        name,
        full_name: `${owner.name}/${name}`,
        description: "A thing",
        owner: { login: owner.name },
        private: false,
        empty: true,
        fork: false,
        watchers_count: 1,
        default_branch: "main",
        permissions: { admin: true, push: true, pull: true },
        clone_url: `https://forge.example/${owner.name}/${name}.git`,
      },
    });
    const read = await call("GET", `/repos/${owner.name}/${name.toUpperCase()}`);
    expect(read.body).toEqual({
      ...answer.body,
      permissions: { admin: false, push: false, pull: true },
      owner: read.body.owner,
    });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    const repoId = answer.body.id;
    expect(await db.select().from(events).where(eq(events.repoId, repoId))).toMatchObject([
      { type: "repository.created", actorId: owner.id, ownerId: owner.id, payload: { name } },
    ]);
    expect(await db.select().from(watches).where(eq(watches.repoId, repoId))).toHaveLength(1);
  });
});
