import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories, webhookEvents } from "../../../../../src/db/schema/index.ts";
import { dispatchEvents } from "../../../../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { parseHookEvents } from "../../../../../src/domain/exchange/webhooks/hooks/hook-events.ts";
import { recordEvent } from "../../../../support/activities.ts";
import { History } from "../../../../support/commits.ts";
import { db } from "../../../../support/db.ts";
import { eventsOf } from "../../../../support/events.ts";
import { makeHook } from "../../../../support/hooks.ts";
import { make, type TestRepo } from "../../../../support/make.ts";
import { push, pushCommands } from "../../../../support/push.ts";
import { systemCtx } from "../../../../support/system.ts";

/** Later than any event that the queue dispatches by itself. */
const LATE = Date.UTC(2100, 0, 1);

async function dispatch(): Promise<void> {
  const queue = { sendBatch: () => Promise.resolve() } as unknown as Env["DELIVERY_JOBS"];
  await dispatchEvents(systemCtx({ DELIVERY_JOBS: queue }, LATE));
}

const sentOf = async ({ id }: TestRepo) =>
  (
    await db
      .select()
      .from(webhookEvents)
      .where(eq(webhookEvents.repoId, id))
      .orderBy(webhookEvents.id)
  ).map(({ event, payload }) => Object.assign<Record<string, unknown>, object>({ event }, payload));

async function makeScene() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  await makeHook({
    level: "repository",
    approverId: owner.id,
    repoId: repo.id,
    events: parseHookEvents(["wiki"]),
  });
  return { owner, repo };
}

const CHANGE = {
  pushId: "1",
  commitOid: "1".repeat(40),
  comment: "Why",
  pages: [
    { action: "created", page: "New-page" },
    { action: "deleted", page: "Old" },
  ],
  pageCount: 2,
};

describe("webhooks of wikis", () => {
  it("receive each page that a push has changed, in Gitea's form", async () => {
    const { owner, repo } = await makeScene();
    await recordEvent(repo, owner, "wiki.changed", CHANGE, LATE, LATE);
    await dispatch();
    const sent = await sentOf(repo);
    expect(sent).toMatchObject([
      {
        event: "wiki",
        action: "created",
        page: "New-page",
        comment: "Why",
        repository: { id: repo.id },
        sender: { login: owner.name },
      },
      { event: "wiki", action: "deleted", page: "Old" },
    ]);
    expect(Object.keys(sent[0] ?? {}).toSorted()).toEqual(
      ["action", "comment", "event", "page", "repository", "sender"].toSorted(),
    );
    expect(JSON.stringify(sent)).not.toContain(owner.email);
  });

  it("receive nothing of a wiki that is switched off", async () => {
    const { owner, repo } = await makeScene();
    await db.update(repositories).set({ hasWiki: false }).where(eq(repositories.id, repo.id));
    await recordEvent(repo, owner, "wiki.changed", { ...CHANGE, pushId: "2" }, LATE, LATE);
    await dispatch();
    expect(await sentOf(repo)).toEqual([]);
  });
});

describe("the pages that a push to a wiki changes", () => {
  it("are those of its branch, up to 20 of them, with the message of its last commit", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const wiki = { owner: repo.owner, name: `${repo.name}.wiki` };
    const history = new History();
    const files = Object.fromEntries(
      Array.from({ length: 25 }, (_, at) => [`p/${String(at).padStart(2, "0")}.md`, `${at}`]),
    );
    const first = history.commit({ files: { ...files, "a.png": "x" }, message: "Begin\n" });
    await push(owner, wiki, first, history.build());
    const next = new History();
    const changed = { ...files, "p/03.md": "other", "a.png": "y" };
    const second = next.commit({ files: changed, parents: [first], message: "Edit\n\nmore\n" });
    await pushCommands(
      owner,
      wiki,
      [
        { ref: "refs/heads/main", old: first, new: second },
        { ref: "refs/heads/draft", new: first },
        { ref: "refs/tags/v1", new: second },
      ],
      { pack: next.build() },
    );
    const [one, two, ...others] = await eventsOf(repo);
    expect(one?.payload).toMatchObject({ comment: "Begin", pageCount: 25, commitOid: first });
    expect(one?.payload["pages"]).toHaveLength(20);
    expect(two?.payload).toMatchObject({
      comment: "Edit\n\nmore",
      pages: [{ action: "edited", page: "p/03" }],
      pageCount: 1,
    });
    expect(others).toEqual([]);
  });
});
