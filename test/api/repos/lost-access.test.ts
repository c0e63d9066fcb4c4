import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  ACCESS,
  notifications,
  repositories,
  users,
  type Repository,
} from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { call, visit } from "../../support/call.ts";
import { drawConsequences } from "../../support/consequences.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeCommit, push, pushCommands } from "../../support/push.ts";

type Named = Pick<TestRepo, "owner" | "name">;

const at = ({ owner, name }: Named) => `/repos/${owner}/${name}`;

const post = async (path: string, as: TestUser, json: object) => {
  const { status, body } = await call("POST", path, { as, json });
  expect([path, Math.floor(status / 100)]).toEqual([path, 2]);
  return body;
};

async function rowOf({ id }: { id: number }): Promise<Repository> {
  return only(await db.select().from(repositories).where(eq(repositories.id, id)));
}

/** A public repository, and a fork whose parent is about to become private. */
async function makeScene() {
  const [owner, forker, reader] = [await make.user(), await make.user(), await make.user()];
  const parent = await make.repo(owner);
  const commit = makeCommit(freshName("text"));
  await push(owner, parent, commit.oid, commit.pack);
  const made = await post(`${at(parent)}/forks`, forker, { name: freshName("fork") });
  const fork = { id: made.id as number, owner: forker.name, name: made.name as string };
  await db.update(repositories).set({ hasIssues: true }).where(eq(repositories.id, fork.id));
  const hide = () => call("PATCH", at(parent), { as: owner, json: { private: true } });
  return { owner, forker, reader, parent, fork, commit, hide };
}

describe("after the parent of a fork became private", () => {
  it("participants of its issues are notified no more, and find nothing of it", async () => {
    const { forker, reader, fork, hide } = await makeScene();
    const issue = await post(`${at(fork)}/issues`, forker, { title: freshName("fault") });
    const comments = `${at(fork)}/issues/${issue.number}/comments`;
    await post(comments, reader, { body: "Same here" });
    await post(comments, forker, { body: `@${reader.name}, look` });
    await drawConsequences();
    const total = async (path: string) => {
      const { body, headers } = await call("GET", path, { as: reader });
      return [body.length, headers.get("X-Total-Count")];
    };
    const search = `/repos/issues/search?state=all&mentioned=true`;
    expect(await total("/notifications")).toEqual([1, "1"]);
    expect(await total(search)).toEqual([1, "1"]);

    await hide();
    await post(comments, forker, { body: `@${reader.name}, again` });
    await drawConsequences();
    expect(await total("/notifications?all=true")).toEqual([0, "0"]);
    expect((await call("GET", "/notifications/new", { as: reader })).body.new).toBe(0);
    expect(await total(search)).toEqual([0, "0"]);
    const [kept] = await db.select().from(notifications).where(eq(notifications.userId, reader.id));
    const thread = await call("GET", `/notifications/threads/${kept?.id}`, { as: reader });
    expect(thread.status).toBe(404);
    expect((await call("PATCH", `/notifications/threads/${kept?.id}`, { as: reader })).status).toBe(
      404,
    );
  });

  it("times, stopwatches, stars and feeds of others do not show it", async () => {
    const { forker, reader, fork, hide } = await makeScene();
    const title = freshName("fault");
    const issue = await post(`${at(fork)}/issues`, forker, { title });
    await make.collaborator(await rowOf(fork), reader, ACCESS.write);
    await post(`${at(fork)}/issues/${issue.number}/times`, reader, { time: 60 });
    await post(`${at(fork)}/issues/${issue.number}/stopwatch/start`, reader, {});
    await post(`${at(fork)}/issues/${issue.number}/comments`, reader, { body: "Working on it" });
    await call("PUT", `/user/starred/${fork.owner}/${fork.name}`, { as: forker });
    await call("DELETE", `${at(fork)}/collaborators/${reader.name}`, { as: forker });
    await drawConsequences();
    const lists = ["/user/times", "/user/stopwatches", `/users/${forker.name}/starred`];
    const feeds = [`/${reader.name}.rss`, `/${forker.name}.atom`];
    const read = async () => {
      const answers = await Promise.all([
        ...lists.map((path) => call("GET", path, { as: reader })),
        ...feeds.map((path) => visit("GET", path)),
      ]);
      return answers.map(({ body, headers }) => [
        JSON.stringify(body).includes(fork.name),
        headers.get("X-Total-Count"),
      ]);
    };
    const shown = await read();
    expect(shown.map(([isShown]) => isShown)).toEqual([true, true, true, true, true]);
    await hide();
    const hidden = await read();
    expect(hidden.map(([isShown]) => isShown)).toEqual([false, false, false, false, false]);
    expect(hidden.slice(0, 3).map(([, total]) => total)).toEqual(["0", "0", "0"]);
  });

  it("references and dependencies elsewhere do not show its issues", async () => {
    const { forker, reader, fork, hide } = await makeScene();
    const other = await make.repo(forker);
    const [there, here] = [
      await post(`${at(other)}/issues`, forker, { title: "Public" }),
      await post(`${at(fork)}/issues`, forker, { title: "Of the fork" }),
    ];
    const text = `See ${other.owner}/${other.name}#${there.number}`;
    await post(`${at(fork)}/issues/${here.number}/comments`, forker, { body: text });
    await post(`${at(other)}/issues/${there.number}/dependencies`, forker, {
      owner: fork.owner,
      repo: fork.name,
      index: here.number,
    });
    const commit = makeCommit(text);
    await push(forker, fork, commit.oid, commit.pack, "refs/heads/topic");
    await drawConsequences();
    const read = async () => {
      const [timeline, blockers] = await Promise.all(
        ["timeline", "dependencies"].map((list) =>
          call("GET", `${at(other)}/issues/${there.number}/${list}`, { as: reader }),
        ),
      );
      return JSON.stringify([timeline?.body, blockers?.body]);
    };
    expect(await read()).toContain(fork.name);
    await hide();
    expect(await read()).not.toContain(fork.name);
  });

  it("old names lead nowhere", async () => {
    const { forker, fork, hide } = await makeScene();
    const name = freshName("renamed");
    await call("PATCH", at(fork), { as: forker, json: { name } });
    const statuses = async () =>
      Promise.all([
        call("GET", at(fork)),
        visit("GET", `/${fork.owner}/${fork.name}.rss`),
        visit("GET", `/${fork.owner}/${fork.name}.git/info/refs?service=git-upload-pack`),
      ]).then((answers) => answers.map(({ status }) => status));
    expect((await statuses()).every((status) => status === 301 || status === 200)).toBe(true);
    await hide();
    expect(await statuses()).toEqual([404, 404, 401]);
  });

  it("a fetch that has begun is refused, and so is a comparison of others with it", async () => {
    const { forker, reader, parent, fork, commit, hide } = await makeScene();
    const path = `/${fork.owner}/${fork.name}.git/git-upload-pack`;
    const sending = {
      headers: { "Content-Type": "application/x-git-upload-pack-request" },
      body: `0032want ${commit.oid}\n00000009done\n`,
    };
    expect((await visit("POST", path, sending)).status).toBe(200);
    const compared = `${at(parent)}/compare/main...${forker.name}:main`;
    expect((await call("GET", compared)).status).toBe(200);
    await hide();
    expect((await visit("POST", path, sending)).status).toBe(401);
    for (const as of [undefined, reader]) {
      expect((await call("GET", compared, as ? { as } : {})).status).toBe(404);
    }
  });

  // SECURITY: the fork stays with its owner, what happens in the parent does not reach it.
  it("its owner keeps it, and gets nothing new from the parent", async () => {
    const { owner, forker, parent, fork, hide } = await makeScene();
    await hide();
    const next = makeCommit(freshName("later"));
    await push(owner, parent, next.oid, next.pack, "refs/heads/later");
    const { status, body } = await call("GET", at(fork), { as: forker });
    expect([status, body.fork]).toEqual([200, true]);
    expect(body).not.toHaveProperty("parent");
    const json = { branch: "main" };
    expect((await call("POST", `${at(fork)}/merge-upstream`, { as: forker, json })).status).toBe(
      404,
    );
    expect((await call("GET", `${at(fork)}/git/commits/${next.oid}`, { as: forker })).status).toBe(
      404,
    );
    expect((await call("GET", `${at(fork)}/raw/file?ref=${next.oid}`, { as: forker })).status).toBe(
      404,
    );
    const pull = { title: "x", head: `${forker.name}:main`, base: "main" };
    expect((await call("POST", `${at(parent)}/pulls`, { as: forker, json: pull })).status).toBe(
      404,
    );
  });
});

describe("after the owner of a fork became private", () => {
  it("its pull request in the public parent shows no repository of the head", async () => {
    const { owner, forker, reader, parent, fork } = await makeScene();
    const topic = makeCommit(freshName("topic"));
    await pushCommands(forker, fork, [{ ref: "refs/heads/topic", new: topic.oid }], topic);
    const head = `${forker.name}:topic`;
    const pull = await post(`${at(parent)}/pulls`, forker, { title: "x", head, base: "main" });
    const read = async (as?: TestUser) => {
      const path = `${at(parent)}/pulls`;
      const sending = as ? { as } : {};
      const [one, list] = [
        await call("GET", `${path}/${pull.number}`, sending),
        await call("GET", path, sending),
      ];
      return [one.body.head.repo?.full_name, list.body[0].head.repo?.full_name];
    };
    const name = `${fork.owner}/${fork.name}`;
    expect(await read()).toEqual([name, name]);
    await db.update(users).set({ visibility: "private" }).where(eq(users.id, forker.id));
    for (const as of [undefined, reader, owner]) {
      expect(await read(as)).toEqual([undefined, undefined]);
    }
    expect(await read(forker)).toEqual([name, name]);
  });
});
