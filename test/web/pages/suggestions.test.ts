import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { users } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeIssue } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makePull } from "../../support/pulls.ts";

let owner: TestUser;
let reader: TestUser;
let repo: TestRepo;
const browsers = new Map<TestUser, Browser>();
beforeAll(async () => {
  owner = await make.userWithPassword();
  reader = await make.userWithPassword();
  repo = await make.repo(owner, { isEmpty: false });
  for (const user of [owner, reader]) browsers.set(user, await Browser.signedIn(user));
});

const pathTo = ({ owner: name, name: repoName }: TestRepo, query: string): string =>
  `/${name}/${repoName}/issues/suggestions?q=${encodeURIComponent(query)}`;

/** The texts that are suggested. */
async function suggested(user: TestUser, query: string, of = repo): Promise<string[]> {
  const { status, body } = await (browsers.get(user) as Browser).get(pathTo(of, query));
  expect(status).toBe(200);
  return (body as unknown as { text: string }[]).map(({ text }) => text);
}

describe("the suggestions of issues", () => {
  it("are those whose numbers begin so, and those with the words in their titles", async () => {
    const own = await make.repo(owner, { isEmpty: false });
    for (let number = 1; number <= 12; number++) {
      await call("POST", `/repos/${owner.name}/${own.name}/issues`, {
        as: owner,
        json: { title: number === 7 ? "Colors <fade>" : `other ${number}`, body: "colors" },
      });
    }
    expect(await suggested(owner, "#1", own)).toEqual(["#1", "#10", "#11", "#12"]);
    expect(await suggested(owner, "#12", own)).toEqual(["#12"]);
    expect(await suggested(owner, "#99", own)).toEqual([]);
    expect(await suggested(owner, "#0", own)).toEqual([]);
    expect(await suggested(owner, "#colors", own)).toEqual(["#7"]);
    expect(await suggested(owner, "#", own)).toHaveLength(10);
    const { body } = await (browsers.get(owner) as Browser).get(pathTo(own, "#7"));
    expect(body).toEqual([{ text: "#7", label: "Colors <fade>" }]);
  });

  it("have no pull requests for those who may not see these", async () => {
    const own = await make.repo(owner, { isEmpty: false });
    const issue = await makeIssue(own);
    const pull = await makePull(own, { headBranch: "topic" });
    const both = [`#${issue.number}`, `#${pull.number}`];
    expect((await suggested(reader, "#", own)).toSorted()).toEqual(both);
    await call("PATCH", `/repos/${owner.name}/${own.name}`, {
      as: owner,
      json: { has_pull_requests: false },
    });
    expect(await suggested(reader, "#", own)).toEqual([both[0]]);
    expect(await suggested(reader, both[1] ?? "", own)).toEqual([]);
  });
});

describe("the suggestions of users", () => {
  it("are those of the repository first, then others whom the reader may know", async () => {
    const marker = `x${crypto.randomUUID().slice(0, 8)}`;
    const [member, other, hidden] = [
      await make.user({ name: `${marker}z` }),
      await make.user({ name: `${marker}a` }),
      await make.user({ name: `${marker}b` }),
    ];
    await make.collaborator(repo, member, 2);
    await db.update(users).set({ visibility: "private" }).where(eq(users.id, hidden.id));
    expect(await suggested(reader, `@${marker}`)).toEqual([`@${member.name}`, `@${other.name}`]);
    expect(await suggested(reader, "@")).toEqual(
      expect.arrayContaining([`@${member.name}`, `@${owner.name}`]),
    );
    // Of a private repository, those alone who have a role there.
    const secret = await make.repo(owner, { isPrivate: true });
    expect(await suggested(owner, `@${marker}`, secret)).toEqual([]);
    await make.collaborator(secret, other, 2);
    expect(await suggested(owner, `@${marker}`, secret)).toEqual([`@${other.name}`]);
  });

  it("are for readers of the repository who are signed in", async () => {
    const secret = await make.repo(owner, { isPrivate: true });
    const browser = browsers.get(reader) as Browser;
    expect((await browser.get(pathTo(secret, "@a"))).status).toBe(404);
    const anonymous = await visit("GET", pathTo(repo, "@a"));
    expect(anonymous.status).toBe(401);
  });
});
