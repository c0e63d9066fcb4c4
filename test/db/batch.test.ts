import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { batch } from "../../src/db/batch.ts";
import { users } from "../../src/db/schema/index.ts";
import { db } from "../support/db.ts";
import { make } from "../support/make.ts";

const rename = (id: number, fullName: string) =>
  db
    .update(users)
    .set({ fullName })
    .where(eq(users.id, id))
    .returning({ fullName: users.fullName });

describe("a batch by name", () => {
  it("returns each result under its statement's name, also lists, in the order given", async () => {
    const { id } = await make.user();

    const results = await batch(db, {
      before: rename(id, "a"),
      steps: ["b", "c"].map((name) => rename(id, name)),
      none: [],
      absent: undefined,
      after: db.select({ fullName: users.fullName }).from(users).where(eq(users.id, id)),
    });

    expect(results).toEqual({
      before: [{ fullName: "a" }],
      steps: [[{ fullName: "b" }], [{ fullName: "c" }]],
      none: [],
      after: [{ fullName: "c" }],
    });
  });

  it("applies no statement if one fails", async () => {
    const { id, name } = await make.user();
    const other = await make.user();

    const run = batch(db, {
      renamed: rename(id, "changed"),
      taken: db.update(users).set({ lowerName: name.toLowerCase() }).where(eq(users.id, other.id)),
    });

    await expect(run).rejects.toThrow("UNIQUE constraint failed");
    const [user] = await db.select().from(users).where(eq(users.id, id));
    expect(user?.fullName).not.toBe("changed");
  });

  it("without statements returns no results", async () => {
    expect(await batch(db, { none: [] })).toEqual({ none: [] });
  });
});
