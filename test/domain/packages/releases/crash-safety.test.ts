import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { attachments, releases } from "../../../../src/db/schema/index.ts";
import { removeLooseAttachments } from "../../../../src/domain/issues/attachments/remove-loose-attachments.ts";
import { db } from "../../../support/db.ts";
import { eventsOf, typesOf } from "../../../support/events.ts";
import { failCalls, failing, serveFailing } from "../../../support/faults.ts";
import { make } from "../../../support/make.ts";
import { makeCommit, refsOf, storePush } from "../../../support/push.ts";
import { makeRelease } from "../../../support/releases.ts";
import { TAKES_ALL } from "../../../support/sample.ts";
import { systemCtx } from "../../../support/system.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

async function makeScene() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const commit = makeCommit(repo.name);
  await storePush(repo, "refs/heads/main", commit.oid, commit.pack);
  const url = `https://forge.example/api/v1/repos/${repo.owner}/${repo.name}/releases`;
  const send = (rest: string, body: string) => {
    const headers = { Authorization: `token ${owner.token}`, "Content-Type": "application/json" };
    return new Request(`${url}${rest}`, { method: "POST", headers, body });
  };
  const read = async () => ({
    rows: await db.select().from(releases).where(eq(releases.repoId, repo.id)),
    hasTag: (await refsOf(repo)).some(({ name }) => name === "refs/tags/v1"),
    published: typesOf(await eventsOf(repo)).filter((type) => type === "release.published"),
  });
  return { repo, send, read };
}

describe("a release", { timeout: 240_000 }, () => {
  // A tag without its release may be left, and a repeated request makes the release of it: never a
  // release without a tag.
  it("is stored with its tag and event or not at all, whichever call fails", async () => {
    const outcomes = new Set<string>();
    const calls = await failCalls(async (fault) => {
      const { send, read } = await makeScene();
      const faults = failing(fault);
      const json = JSON.stringify({ tag_name: "v1" });
      const answer = await serveFailing(send("", json), faults.bindings);
      const { rows, hasTag, published } = await read();
      expect(published).toHaveLength(rows.length);
      expect(rows.length).toBeGreaterThanOrEqual(answer?.status === 201 ? 1 : 0);
      outcomes.add(`${rows.length} ${hasTag}`);
      await serveFailing(
        send("", json),
        failing({ at: -1, isDone: false, isDeath: false }).bindings,
      );
      const after = await read();
      expect(after).toMatchObject({ rows: [{ isDraft: false }], hasTag: true });
      expect(after.published).toHaveLength(1);
      return faults;
    });
    expect(calls).toBeGreaterThan(4);
    // Only some faults leave a tag without a release.
    if (!TAKES_ALL) outcomes.add("0 true");
    expect(outcomes).toEqual(new Set(["0 false", "0 true", "1 true"]));
  });

  it("gets a file whole or none, whichever call fails", async () => {
    const outcomes = new Set<number>();
    const calls = await failCalls(async (fault) => {
      const { repo, send } = await makeScene();
      const release = await makeRelease(repo);
      // What other tests have left goes now, and not between the two counts.
      await removeLooseAttachments(systemCtx({}, Date.now() + 2 * DAY_MS));
      const before = (await env.PACKS.list({ prefix: "attachments/" })).objects.length;
      const faults = failing(fault);
      const request = new Request(send(`/${release.id}/assets?name=a.bin`, "the whole file"), {
        headers: {
          Authorization: send("", "").headers.get("Authorization") ?? "",
          "Content-Type": "application/octet-stream",
        },
      });
      const answer = await serveFailing(request, faults.bindings);
      await removeLooseAttachments(systemCtx({}, Date.now() + 2 * DAY_MS));
      const rows = await db.select().from(attachments).where(eq(attachments.releaseId, release.id));
      const { objects } = await env.PACKS.list({ prefix: "attachments/" });
      expect(objects.length - before).toBe(rows.length);
      expect(rows.length).toBeGreaterThanOrEqual(answer?.status === 201 ? 1 : 0);
      const announced = typesOf(await eventsOf(repo)).filter((type) => type === "release.updated");
      expect(announced).toHaveLength(rows.length);
      outcomes.add(rows.length);
      return faults;
    });
    expect(calls).toBeGreaterThan(4);
    expect([...outcomes].toSorted((a, b) => a - b)).toEqual([0, 1]);
  });
});
