import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { events } from "../../../../src/db/schema/index.ts";
import { maintainRepository } from "../../../../src/domain/code/git/maintain-repository.ts";
import {
  openPayloadSource,
  readPayload,
} from "../../../../src/domain/exchange/webhooks/dispatch/read-payload.ts";
import type { Event } from "../../../../src/events/event.ts";
import { listWebhookEvents } from "../../../../src/events/webhooks/payloads/webhook-event.ts";
import type { PushPayload } from "../../../../src/events/webhooks/payloads/push-payload.ts";
import { call, visit } from "../../../support/call.ts";
import { History } from "../../../support/commits.ts";
import { db } from "../../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { type Command, makeEmptyPack, pushCommands } from "../../../support/push.ts";
import { doorsWith } from "../../../support/service.ts";
import { systemCtx } from "../../../support/system.ts";
import { withoutEvents } from "../../../support/without-events.ts";

let owner: TestUser;
beforeAll(async () => {
  owner = await make.user();
});

/** Pushes new refs, all of whose objects the pack holds or the repository has. */
async function create(repo: TestRepo, refs: Record<string, string>, pack = makeEmptyPack()) {
  const commands: Command[] = Object.entries(refs).map(([ref, oid]) => ({ ref, new: oid }));
  const { body } = await pushCommands(owner, repo, commands, { pack });
  for (const ref of Object.keys(refs)) expect(body).toContain(`ok ${ref}`);
}

/**
 * The payloads of the push events of a repository so far, read now, by ref; the latest of each ref.
 */
async function payloadsOf(repo: TestRepo): Promise<Record<string, PushPayload>> {
  const rows = await db.select().from(events).where(eq(events.repoId, repo.id)).orderBy(events.id);
  const payloads: Record<string, PushPayload> = {};
  const ctx = { ...systemCtx({}, Date.now()), publicUrl: "https://forge.example" };
  for (const { type, ownerId, repoId, payload } of rows) {
    const list = listWebhookEvents({ ...payload, type, ownerId, repoId } as unknown as Event);
    const source = await openPayloadSource(ctx, list, owner.id);
    for (const each of list) {
      const read = await readPayload(source, each);
      if (read?.event === "push") payloads[read.body.ref] = read.body;
    }
  }
  return payloads;
}

/** The contents of the feed's entries of a repository by ref, and the text of its RSS document. */
async function feedOf({ owner: name, name: repo }: TestRepo) {
  const { body } = await call("GET", `/repos/${name}/${repo}/activities/feeds`, { as: owner });
  const pushes = body.filter(({ op_type }: { op_type: string }) => op_type === "commit_repo");
  const entries = pushes.map(({ ref_name, content }: { ref_name: string; content: string }) => [
    ref_name,
    JSON.parse(content),
  ]);
  return {
    byRef: Object.fromEntries(entries),
    rss: (await visit("GET", `/${name}/${repo}.rss`, { as: owner })).body as string,
  };
}

/** A repository whose main branch has three commits, and a history to continue it. */
async function makeMain() {
  const repo = await make.repo(owner);
  const history = new History();
  const oids: string[] = [];
  for (let at = 0; at < 3; at++) oids.push(history.commit({ parents: oids.slice(-1) }));
  const [, , main = ""] = oids;
  await create(repo, { "refs/heads/main": main }, history.build());
  return { repo, history, main, oids };
}

const idsOf = ({ commits }: PushPayload): string[] => commits.map(({ id }) => id);
const rangeOf = ({ compare_url }: PushPayload): string =>
  compare_url.slice(compare_url.indexOf("/compare/") + "/compare/".length);

describe("a push that creates a branch", () => {
  it("announces the commits that no other branch had, from the parent of the first", async () => {
    const { repo, history, main } = await makeMain();
    const first = history.commit({ parents: [main], message: "First of topic\n" });
    const second = history.commit({ parents: [first], message: "Second of topic\n" });
    await create(repo, { "refs/heads/topic": second }, history.build());

    const { "refs/heads/topic": payload } = await payloadsOf(repo);
    expect(payload).toMatchObject({ total_commits: 2, head_commit: { id: second } });
    expect([payload && idsOf(payload), payload && rangeOf(payload)]).toEqual([
      [second, first],
      `${main}...${second}`,
    ]);
    const { byRef, rss } = await feedOf(repo);
    expect(byRef["refs/heads/topic"]).toMatchObject({
      Len: 2,
      Commits: [{ Sha1: second }, { Sha1: first }],
      HeadCommit: { Sha1: second },
      CompareURL: `${owner.name}/${repo.name}/compare/${main}...${second}`,
    });
    expect(rss).toContain(`/compare/${main}...${second}`);
  });

  it("of old commits announces none, and compares with the default branch", async () => {
    const { repo, oids } = await makeMain();
    const [old = ""] = oids;
    await create(repo, { "refs/heads/copy": old });

    const { "refs/heads/copy": payload } = await payloadsOf(repo);
    expect(payload).toMatchObject({ total_commits: 0, commits: [], head_commit: { id: old } });
    expect(payload && rangeOf(payload)).toBe(`main...${old}`);
    const { byRef, rss } = await feedOf(repo);
    expect(byRef["refs/heads/copy"]).toMatchObject({
      Len: 0,
      Commits: [],
      HeadCommit: { Sha1: old },
      CompareURL: `${owner.name}/${repo.name}/compare/main...${old}`,
    });
    expect(rss).toContain(`/compare/main...${old}`);
  });

  it("by API announces none, as when a branch is renamed", async () => {
    const { repo, main } = await makeMain();
    const path = `/repos/${repo.owner}/${repo.name}/branches`;
    await call("POST", path, { as: owner, json: { new_branch_name: "made" } });
    await call("PATCH", `${path}/made`, { as: owner, json: { name: "renamed" } });
    const payloads = await payloadsOf(repo);
    for (const ref of ["refs/heads/made", "refs/heads/renamed"]) {
      expect(payloads[ref]).toMatchObject({ total_commits: 0, head_commit: { id: main } });
    }
  });

  // The objects are stored, so that the push brings none, but no branch has the commit.
  it("announces a commit again whose branch was deleted", async () => {
    const { repo, history, main } = await makeMain();
    const tip = history.commit({ parents: [main] });
    await create(repo, { "refs/heads/gone": tip, "refs/tags/kept": tip }, history.build());
    await pushCommands(owner, repo, [{ ref: "refs/heads/gone", old: tip }]);
    await create(repo, { "refs/heads/back": tip });
    expect((await payloadsOf(repo))["refs/heads/back"]).toMatchObject({
      total_commits: 1,
      commits: [{ id: tip }],
    });
    expect((await feedOf(repo)).byRef["refs/heads/back"]).toMatchObject({ Len: 1 });
  });

  it("announces ten commits at most, and lists five", async () => {
    const { repo, history, oids } = await makeMain();
    for (let at = 3; at < 15; at++) oids.push(history.commit({ parents: oids.slice(-1) }));
    const oid = (at: number): string => oids[at] ?? "";
    await create(repo, { "refs/heads/long": oid(14) }, history.build());
    const { "refs/heads/long": payload } = await payloadsOf(repo);
    expect(payload?.total_commits).toBe(10);
    expect(payload && idsOf(payload)).toEqual([14, 13, 12, 11, 10].map(oid));
    expect(payload && rangeOf(payload)).toBe(`${oid(4)}...${oid(14)}`);
    const { byRef } = await feedOf(repo);
    expect(byRef["refs/heads/long"]).toMatchObject({ Len: 10 });
    expect(byRef["refs/heads/long"].CompareURL).toContain(`${oid(4)}...${oid(14)}`);
  });

  it("stops at the first commit that another branch had", async () => {
    const { repo, history, main, oids } = await makeMain();
    const [root = ""] = oids;
    const older = history.commit({ parents: [root] });
    const onMain = history.commit({ parents: [main] });
    const old = history.build();
    const update = [{ ref: "refs/heads/main", old: main, new: onMain }];
    await pushCommands(owner, repo, update, { pack: old });
    const merge = history.commit({ parents: [older, onMain] });
    await create(repo, { "refs/heads/merged": merge }, history.build());
    expect((await payloadsOf(repo))["refs/heads/merged"]).toMatchObject({
      total_commits: 1,
      commits: [{ id: merge }],
    });
  });

  it("with others announces each commit once, and the default branch's first", async () => {
    const repo = await make.repo(owner);
    const history = new History();
    const root = history.commit();
    const main = history.commit({ parents: [root] });
    const topic = history.commit({ parents: [main] });
    await create(
      repo,
      { "refs/heads/a": topic, "refs/heads/b": topic, "refs/heads/main": main },
      history.build(),
    );
    const payloads = await payloadsOf(repo);
    const listed = Object.entries(payloads).map(([ref, payload]) => [ref, idsOf(payload)]);
    expect(Object.fromEntries(listed)).toEqual({
      "refs/heads/main": [main, root],
      "refs/heads/a": [topic],
      "refs/heads/b": [],
    });
  });

  it("with an update announces a commit of both with the update", async () => {
    const { repo, history, main } = await makeMain();
    const tip = history.commit({ parents: [main] });
    const commands = [
      { ref: "refs/heads/also", new: tip },
      { ref: "refs/heads/main", old: main, new: tip },
    ];
    await pushCommands(owner, repo, commands, { pack: history.build() });
    const payloads = await payloadsOf(repo);
    expect(payloads["refs/heads/main"]).toMatchObject({ total_commits: 1 });
    expect(payloads["refs/heads/also"]).toMatchObject({ total_commits: 0, commits: [] });
  });

  // The payload is read later than the push is recorded: another branch may have the commits by
  // then.
  it("announces its commits although they were merged before the webhooks are sent", async () => {
    const { repo, history, main } = await makeMain();
    const tip = history.commit({ parents: [main] });
    await create(repo, { "refs/heads/fast": tip }, history.build());
    await pushCommands(owner, repo, [{ ref: "refs/heads/main", old: main, new: tip }], {
      pack: makeEmptyPack(),
    });
    expect((await payloadsOf(repo))["refs/heads/fast"]).toMatchObject({
      total_commits: 1,
      commits: [{ id: tip }],
    });
  });

  it("is counted the same if it is recorded later, after other pushes", async () => {
    const { repo, history, main } = await makeMain();
    const tip = history.commit({ parents: [main] });
    const pack = history.build();
    const visitFailing = doorsWith({}, { DB: withoutEvents });
    const commands = [
      { ref: "refs/heads/late", new: tip },
      { ref: "refs/heads/later", new: main },
    ];
    await pushCommands(owner, repo, commands, { pack, visit: visitFailing });
    const update = [
      { ref: "refs/heads/main", old: main, new: tip },
      { ref: "refs/heads/late", old: tip },
    ];
    await pushCommands(owner, repo, update, { pack: makeEmptyPack() });
    await maintainRepository(systemCtx({}, Date.now()), repo);
    const { byRef } = await feedOf(repo);
    expect(byRef["refs/heads/later"]).toMatchObject({ Len: 0 });
    const payloads = await payloadsOf(repo);
    expect(payloads["refs/heads/late"]).toMatchObject({ total_commits: 1, commits: [{ id: tip }] });
  });
});
