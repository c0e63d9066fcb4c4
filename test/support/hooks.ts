import type { Hook } from "../../src/db/schema/index.ts";
import { hooks } from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { History } from "./commits.ts";
import { db } from "./db.ts";
import type { TestRepo } from "./make.ts";
import { storePush } from "./push.ts";

/** An active hook for pushes; what matters to a test it says itself. */
export async function makeHook(
  fields: Pick<Hook, "level" | "approverId"> & Partial<Hook>,
): Promise<Hook> {
  const rows = await db
    .insert(hooks)
    .values({
      type: "gitea",
      url: "https://receiver.example/hook",
      contentType: "json",
      chat: {},
      events: ["push"],
      isActive: true,
      createdAt: 1000,
      updatedAt: 1000,
      ...fields,
    })
    .returning();
  return only(rows);
}

/** Two branches, `main` and `some/branch`, of one commit each. */
export async function makeHistory(repo: TestRepo): Promise<{ main: string; some: string }> {
  const history = new History();
  const main = history.commit({ files: { file: "one\n" } });
  const some = history.commit({ files: { file: "two\n" } });
  const pack = history.build();
  await storePush(repo, "refs/heads/main", main, pack);
  await storePush(repo, "refs/heads/some/branch", some, pack);
  return { main, some };
}
