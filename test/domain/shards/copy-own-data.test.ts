import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import type { Ctx } from "../../../src/context.ts";
import { branchProtections, hooks, labels } from "../../../src/db/schema/index.ts";
import { copyOwnData, openTemplateData } from "../../../src/domain/generate/copy-own-data.ts";
import { copyToShards } from "../../../src/domain/shards/copy-to-shards.ts";
import type { RepositoryContext } from "../../../src/shapes/repos/repository.ts";
import { systemCtx } from "../../support/system.ts";
import { BINDINGS, databases, insertRepo, insertUser } from "./task-fixtures.ts";
import { clearDatabases } from "./three-shards.ts";

const NOW = Date.UTC(2026, 0, 31);
const EVERYTHING = { hasWebhooks: true, hasLabels: true, hasBranchRules: true };

beforeEach(async () => {
  await clearDatabases();
  await copyToShards(systemCtx(BINDINGS, NOW));
});

const dbOf = ({ row }: RepositoryContext) => databases[row.shard] as Ctx["db"];

/** A template with labels, a webhook and a rule, and another repository that has some, too. */
async function makeTemplate(shard: number, labelCount: number) {
  const owner = await insertUser("owner");
  const [template, other] = [
    await insertRepo(owner, "template", shard),
    await insertRepo(owner, "other", shard),
  ];
  await copyToShards(systemCtx(BINDINGS, NOW));
  const db = dbOf(template);
  const at = { createdAt: 1, updatedAt: 1 };
  for (const [{ row }, count] of [
    [template, labelCount],
    [other, 1],
  ] as const) {
    const names = Array.from({ length: count }, (_, index) => `label ${index} "ü"`);
    await db.run(sql`
      insert into labels (repo_id, name, color, description, is_exclusive, archived_at, created_at, updated_at)
      select ${row.id}, value, 'ffffff', 'it''s one', 1, 7, 1, 1 from json_each(${JSON.stringify(names)})`);
    await db.insert(hooks).values({
      ...at,
      level: "repository",
      repoId: row.id,
      approverId: owner.id,
      type: "gitea",
      url: `https://hooks.example/${row.name}`,
      contentType: "json",
      chat: { channel: "#one" },
      secret: "sealed",
      events: ["push"],
      isActive: true,
      failureCount: 3,
    });
    await db.insert(branchProtections).values({
      ...at,
      repoId: row.id,
      name: "main",
      priority: 1,
      settings: { requiredApprovals: 2 } as never,
    });
  }
  return { owner, template };
}

const withoutIds = (rows: readonly object[]) =>
  rows.map((row) => ({ ...row, id: 0, repoId: 0, createdAt: 0, updatedAt: 0 }));

describe("own data of a template", () => {
  it.each([
    [1, 2],
    [1, 0],
    [0, 3],
    [2, 2],
  ])("of shard %i is copied to a repository of shard %i", async (from, to) => {
    const { owner, template } = await makeTemplate(from, 2500);
    const created = await insertRepo(owner, "created", to);
    const ctx = systemCtx(BINDINGS, NOW);
    await copyToShards(ctx);
    const data = await openTemplateData(ctx, template.row, EVERYTHING);
    const db = dbOf(created);
    const statements = copyOwnData({ ...ctx, db }, data, sql<number>`${created.row.id}`);
    await db.batch(statements as never);

    for (const table of [labels, branchProtections]) {
      const [expected, found] = await Promise.all(
        [template, created].map((repo) =>
          dbOf(repo).select().from(table).where(eq(table.repoId, repo.row.id)).orderBy(table.id),
        ),
      );
      expect(withoutIds(found as object[])).toEqual(withoutIds(expected as object[]));
      expect(found?.length).toBe(table === labels ? 2500 : 1);
      expect(found?.[0]).toMatchObject({ createdAt: NOW });
    }
    const copied = await db.select().from(hooks).where(eq(hooks.repoId, created.row.id));
    expect(copied).toMatchObject([
      {
        url: "https://hooks.example/template",
        secret: "sealed",
        chat: { channel: "#one" },
        events: ["push"],
        isActive: true,
        failureCount: 0,
        approverId: 0,
        createdAt: NOW,
      },
    ]);
  });

  it("is not read where it is not wanted", async () => {
    const { template } = await makeTemplate(1, 1);
    const wanted = { ...EVERYTHING, hasWebhooks: false, hasLabels: false };
    const data = await openTemplateData(systemCtx(BINDINGS, NOW), template.row, wanted);
    expect(data).toMatchObject({ webhooks: [], labels: [], branchRules: [{}] });
  });
});
