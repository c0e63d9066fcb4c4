import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositoryTopics, topics } from "../../../src/db/schema/index.ts";
import { call, type Sending } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

const pathOf = ({ owner, name }: TestRepo, rest = "topics") => `/repos/${owner}/${name}/${rest}`;
const put = (repo: TestRepo, as: TestUser, names: unknown) =>
  call("PUT", pathOf(repo), { as, json: { topics: names } });
const list = async (repo: TestRepo, sending: Sending = {}) =>
  (await call("GET", pathOf(repo), sending)).body.topics;
const find = async (q: string) => (await call("GET", `/topics/search?q=${q}`)).body.topics;

async function makeOwned(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  return { owner, repo: await make.repo(owner, fields) };
}

describe("the topics of a repository", () => {
  it("are replaced, added and removed, with one event for each change", async () => {
    const { owner, repo } = await makeOwned();
    const { answer, line } = await logged(() => put(repo, owner, [" Beta ", "alpha", "beta", ""]));
    expect([answer.status, line.d1Rounds]).toEqual([204, 2]);
    expect(await list(repo)).toEqual(["alpha", "beta"]);
    const record = () => call("GET", pathOf(repo, "").slice(0, -1));
    expect((await record()).body.topics).toEqual(["alpha", "beta"]);

    await put(repo, owner, ["beta", "alpha"]);
    const at = (name: string) => pathOf(repo, `topics/${name}`);
    expect((await call("PUT", at("Gamma.x-1"), { as: owner })).status).toBe(204);
    expect((await call("PUT", at("gamma.x-1"), { as: owner })).status).toBe(204);
    expect(await list(repo)).toEqual(["alpha", "beta", "gamma.x-1"]);
    expect((await call("DELETE", at("alpha"), { as: owner })).status).toBe(204);
    expect((await call("DELETE", at("alpha"), { as: owner })).status).toBe(404);
    expect(await list(repo)).toEqual(["beta", "gamma.x-1"]);
    await put(repo, owner, []);
    expect((await record()).body.topics).toEqual([]);
    expect(typesOf(await eventsOf(repo))).toEqual(Array(4).fill("repository.topics_changed"));
  });

  it("are listed in full or in pages", async () => {
    const { owner, repo } = await makeOwned();
    const names = Array.from({ length: 25 }, (_, at) => `t${String(at).padStart(2, "0")}`);
    await put(repo, owner, names);
    const { answer, line } = await logged(() => call("GET", pathOf(repo)));
    expect(answer.body.topics).toEqual(names);
    expect(answer.headers.get("X-Total-Count")).toBe("25");
    expect(line.d1Rounds).toBe(1);
    const page = await call("GET", `${pathOf(repo)}?page=3&limit=10`);
    expect(page.body.topics).toEqual(names.slice(20));
    expect(page.headers.get("Link")).toContain('rel="prev"');
  });

  it("must be valid names, and at most 25 under concurrent requests", async () => {
    const { owner, repo } = await makeOwned();
    const wrong = ["-a", ".a", "a b", "a_b", "ä", "a".repeat(36), "\0", "a/b", "a,b"];
    const refused = await put(repo, owner, ["fine", ...wrong]);
    expect(refused.status).toBe(422);
    expect(refused.body.message).toBe("Topic names are invalid");
    expect(refused.body.invalidTopics.toSorted()).toEqual(wrong.toSorted());
    const many = Array.from({ length: 26 }, (_, at) => `t${at}`);
    expect(await put(repo, owner, many)).toMatchObject({
      status: 422,
      body: { message: "Exceeding maximum number of topics per repo" },
    });
    for (const names of ["a", [1], [null], { a: 1 }]) {
      expect((await put(repo, owner, names)).status).toBe(422);
    }
    for (const name of ["-a", "%00", "a%2Fb", "..%2fa", "x".repeat(5000)]) {
      const at = pathOf(repo, `topics/${name}`);
      for (const method of ["PUT", "DELETE"]) {
        expect((await call(method, at, { as: owner })).status, name).toBe(422);
      }
    }
    expect(await list(repo)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);

    await put(repo, owner, many.slice(0, 24));
    const answers = await Promise.all(
      ["x", "y", "z"].map((name) => call("PUT", pathOf(repo, `topics/${name}`), { as: owner })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 422, 422]);
    const known = await call("PUT", pathOf(repo, "topics/t3"), { as: owner });
    expect([known.status, (await list(repo)).length]).toEqual([204, 25]);
  });

  it("are changed by administrators of the repository", async () => {
    const { repo } = await makeOwned();
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    const hidden = await makeOwned({ isPrivate: true });
    const requests = [
      ["PUT", "topics"],
      ["PUT", "topics/a"],
      ["DELETE", "topics/a"],
    ] as const;
    for (const [method, rest] of requests) {
      const json = { json: { topics: ["a"] } };
      expect((await call(method, pathOf(repo, rest), json)).status).toBe(401);
      expect((await call(method, pathOf(repo, rest), { as: writer, ...json })).status).toBe(403);
      const at = pathOf(hidden.repo, rest);
      expect((await call(method, at, { as: writer, ...json })).status).toBe(404);
    }
    expect((await call("GET", pathOf(hidden.repo), { as: writer })).status).toBe(404);
    expect([await list(repo), await list(hidden.repo, { as: hidden.owner })]).toEqual([[], []]);
    expect([...(await eventsOf(repo)), ...(await eventsOf(hidden.repo))]).toEqual([]);
  });
});

describe("GET /topics/search", () => {
  it("finds topics by a part of their names, sorted by the number of public repositories", async () => {
    const word = freshName("w").replaceAll("-", "");
    const { owner, repo } = await makeOwned();
    const { owner: other, repo: another } = await makeOwned();
    const hidden = await makeOwned({ isPrivate: true });
    await put(repo, owner, [`a-${word}`, `b-${word}`, word]);
    await put(another, other, [`b-${word}`]);
    await put(hidden.repo, hidden.owner, [`secret-${word}`, `a-${word}`]);
    const { answer, line } = await logged(() =>
      call("GET", `/topics/search?q=${word.toUpperCase()}`),
    );
    const listed = (answer.body.topics as { topic_name: string; repo_count: number }[]).map(
      ({ topic_name: name, repo_count: count }) => [name, count],
    );
    expect(listed).toEqual([
      [`b-${word}`, 2],
      [`a-${word}`, 1],
      [word, 1],
    ]);
    expect(answer.headers.get("X-Total-Count")).toBe("3");
    expect(line.d1Rounds).toBe(1);
    const page = await call("GET", `/topics/search?q=${word}&page=2&limit=2`);
    expect(page.body.topics).toMatchObject([{ topic_name: word }]);
    const [{ id, created }] = page.body.topics;
    expect([typeof id, created]).toEqual(["number", expect.stringMatching(/Z$/)]);
    expect(await find("%00")).toEqual([]);
    expect((await find(word.slice(0, 2))).length).toBeGreaterThan(0);
  });

  it("omits topics without any public repository", async () => {
    const word = freshName("w").replaceAll("-", "");
    const { owner, repo } = await makeOwned();
    await put(repo, owner, [word]);
    const at = pathOf(repo, "").slice(0, -1);
    expect(await find(word)).toHaveLength(1);
    await call("PATCH", at, { as: owner, json: { private: true } });
    expect(await find(word)).toEqual([]);
    await call("PATCH", at, { as: owner, json: { private: false } });
    expect(await find(word)).toMatchObject([{ repo_count: 1 }]);
    await call("DELETE", at, { as: owner });
    expect(await find(word)).toEqual([]);
    expect(await db.select().from(topics).where(eq(topics.name, word))).toEqual([]);
    const left = db.select().from(repositoryTopics).where(eq(repositoryTopics.repoId, repo.id));
    expect(await left).toEqual([]);
  });
});

describe("GET /repos/search?topic=true", () => {
  it("finds visible repositories that have one of the topics", async () => {
    const [one, two] = [freshName("one"), freshName("two")];
    const { owner, repo } = await makeOwned();
    const hidden = await make.repo(owner, { isPrivate: true });
    const both = await make.repo(owner);
    const none = await make.repo(owner, { name: one });
    await put(repo, owner, [one]);
    await put(hidden, owner, [one, "other"]);
    await put(both, owner, [one, two]);
    const search = async (query: string, sending: Sending = {}) => {
      const { body, headers } = await call("GET", `/repos/search?sort=id&${query}`, sending);
      const ids = (body.data as { id: number }[]).map(({ id }) => id);
      expect(headers.get("X-Total-Count")).toBe(String(ids.length));
      return ids;
    };
    expect(await search(`q=${one}&topic=true`)).toEqual([repo.id, both.id]);
    expect(await search(`q=${one.toUpperCase()}&topic=true`, { as: owner })).toEqual([
      repo.id,
      hidden.id,
      both.id,
    ]);
    expect(await search(`q=${two}&topic=true`)).toEqual([both.id]);
    expect(await search(`q=${two}, ${one},c,d,e,f&topic=true`)).toEqual([repo.id, both.id]);
    expect(await search(`q=a,b,${two},d,${one}&topic=true`, { as: await make.admin() })).toEqual([
      repo.id,
      hidden.id,
      both.id,
    ]);
    expect(await search(`q=${one.slice(0, -1)}&topic=true`)).toEqual([]);
    expect(await search(`q=${one}&topic=true&uid=${owner.id}`)).toEqual([repo.id, both.id]);
    expect(await search(`q=${one}`)).toEqual([repo.id, both.id, none.id]);
    const stranger = await make.user();
    expect(await search(`q=${one}&topic=true&is_private=true`, { as: stranger })).toEqual([]);
    const bound = await make.token(owner, { repos: [both] });
    expect(await search(`q=${one}&topic=true`, { token: bound })).toEqual([both.id]);
  });
});
