import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { labels } from "../../../../src/db/schema/index.ts";
import {
  exclusiveScope,
  exclusiveScopeOf,
} from "../../../../src/domain/issues/issue/exclusive-scope.ts";
import { db } from "../../../support/db.ts";
import { makeLabel } from "../../../support/issues.ts";
import { make } from "../../../support/make.ts";

describe("the exclusive scope of a label", () => {
  it.each([
    ["a/b", "a/"],
    ["a/b/c", "a/b/"],
    ["/a/b", "/a/"],
    ["é/🎉/b", "é/🎉/"],
    ["a//b", "a//"],
    ["//b", "//"],
    ["a", undefined],
    ["/a", undefined],
    ["a/", undefined],
    ["a/b/", undefined],
    ["/", undefined],
  ])("of %j is %j, for the database and for pages", async (name, scope) => {
    const repo = await make.repo(await make.user());
    for (const isExclusive of [true, false]) {
      const label = await makeLabel({ repo }, { name, isExclusive });
      const [row] = await db
        .select({ scope: exclusiveScope })
        .from(labels)
        .where(eq(labels.id, label.id));
      expect(row?.scope ?? undefined).toBe(isExclusive ? scope : undefined);
      expect(exclusiveScopeOf(label)).toBe(row?.scope ?? undefined);
    }
  });
});
